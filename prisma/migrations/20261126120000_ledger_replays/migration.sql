-- How often somebody was withdrawn again because the database had lost it.
ALTER TABLE "erasure_ledger" ADD COLUMN "replayed" INTEGER NOT NULL DEFAULT 0;
