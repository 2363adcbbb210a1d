-- A step that the last release completes has no counts.
ALTER TABLE "deletion_steps" ADD COLUMN "is_counted" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "deletion_counts" (
    "withdrawal_id" TEXT NOT NULL,
    "step" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "records" INTEGER NOT NULL,

    CONSTRAINT "deletion_counts_pkey" PRIMARY KEY ("withdrawal_id", "step", "category", "outcome"),
    CONSTRAINT "deletion_counts_withdrawal_id_fkey" FOREIGN KEY ("withdrawal_id") REFERENCES "withdrawals"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
