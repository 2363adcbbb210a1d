-- Tells an object that was never written, or that a killed run has removed, from one that is lost.
ALTER TABLE "archives" ADD COLUMN "stored_at" TIMESTAMPTZ(3), ADD COLUMN "removing_at" TIMESTAMPTZ(3);
UPDATE "archives" SET "stored_at" = "created_at";
