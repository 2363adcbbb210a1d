-- One row for each message that a mail server took: what became of it, and no address in the clear.
CREATE TABLE "mail_deliveries" (
  "id" TEXT NOT NULL,
  "message_id" TEXT NOT NULL,
  "user_id" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "recipient" TEXT,
  "change_request_id" TEXT,
  "address_mac" BYTEA NOT NULL,
  "state" TEXT NOT NULL,
  "sent_at" TIMESTAMPTZ(3) NOT NULL,
  "state_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "mail_deliveries_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "mail_deliveries_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "mail_deliveries_user_id_id_idx" ON "mail_deliveries"("user_id", "id");
CREATE INDEX "mail_deliveries_sent_at_idx" ON "mail_deliveries"("sent_at");
CREATE INDEX "mail_deliveries_unwarned" ON "mail_deliveries"("state_at") WHERE (state = 'undeliverable' AND recipient = 'old');
ALTER TABLE "mail_deliveries" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);

-- What became of the newest message of the request.
ALTER TABLE "email_change_requests" ADD COLUMN "delivery" TEXT NOT NULL DEFAULT 'sent';

-- Since when messages to the account's address come back; a proven code clears it.
ALTER TABLE "users" ADD COLUMN "email_undeliverable_at" TIMESTAMPTZ(3);
