-- The language of the account when the notice was written: a later try writes in it too.
ALTER TABLE "notices" ADD COLUMN "locale" TEXT;
