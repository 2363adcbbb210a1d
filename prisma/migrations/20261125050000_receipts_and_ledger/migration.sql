-- What signs receipts and the head of the erasure ledger. The number makes two instances that start at once agree on one first key.
CREATE TABLE "signing_keys" (
    "number" INTEGER NOT NULL,
    "kid" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "sealed_private" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "signs_from" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("number")
);
CREATE UNIQUE INDEX "signing_keys_kid_key" ON "signing_keys"("kid");

CREATE TABLE "withdrawal_receipts" (
    "withdrawal_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "receipt" TEXT NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "withdrawal_receipts_pkey" PRIMARY KEY ("withdrawal_id", "kind"),
    CONSTRAINT "withdrawal_receipts_withdrawal_id_fkey" FOREIGN KEY ("withdrawal_id") REFERENCES "withdrawals"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "withdrawal_receipts_issued_at_idx" ON "withdrawal_receipts"("issued_at");

-- One row: the end of the chain. Whoever writes lines locks it first, so that all instances write one chain. The origin tells the
-- ledgers of two databases in one store apart.
CREATE TABLE "erasure_ledger" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "origin" TEXT NOT NULL,
    "seq" INTEGER NOT NULL DEFAULT 0,
    "hash" TEXT NOT NULL DEFAULT '',
    "batch_seq" INTEGER NOT NULL DEFAULT 0,
    "at" TIMESTAMPTZ(3),

    CONSTRAINT "erasure_ledger_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "erasure_ledger_one_row" CHECK ("id" = 1)
);
INSERT INTO "erasure_ledger" ("origin") VALUES (replace(gen_random_uuid()::text, '-', ''));

-- Lines that the store does not have yet.
CREATE TABLE "erasure_ledger_batches" (
    "first_seq" INTEGER NOT NULL,
    "lines" TEXT NOT NULL,

    CONSTRAINT "erasure_ledger_batches_pkey" PRIMARY KEY ("first_seq")
);

-- The withdrawal's line in the ledger, and since when a receipt of it waits to be written.
ALTER TABLE "withdrawals" ADD COLUMN "ledger_seq" INTEGER,
  ADD COLUMN "ledger_hash" TEXT,
  ADD COLUMN "receipt_due_at" TIMESTAMPTZ(3);

-- Whether the application said that it has removed the person, or that it does not know them.
ALTER TABLE "app_notifications" ADD COLUMN "last_status" INTEGER;
