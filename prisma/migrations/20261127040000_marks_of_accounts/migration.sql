-- The replay of the erasure ledger finds an account by it. Compared by its bytes, so that those of one secret are one range.
ALTER TABLE "users" ADD COLUMN "ledger_mark" TEXT COLLATE "C";
