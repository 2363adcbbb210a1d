-- The old address undoes a verified change: what it brings back, and what counts as later.
ALTER TYPE "email_change_status" ADD VALUE 'reverted';
ALTER TABLE "email_change_requests"
    ADD COLUMN "old_verified_at" TIMESTAMPTZ(3),
    ADD COLUMN "account_version" INTEGER,
    ADD COLUMN "reverted_at" TIMESTAMPTZ(3);

-- Nobody gets into such an account until an operator releases it.
ALTER TABLE "users" ADD COLUMN "frozen_at" TIMESTAMPTZ(3);
