-- What has to be paid, and where. "amount_cents" counts the smallest unit of the currency; without a currency the amount is not shown.
ALTER TABLE "transactions" ADD COLUMN "currency" TEXT;
ALTER TABLE "transactions" ADD COLUMN "url" TEXT;
ALTER TABLE "withdrawal_blockers" ADD COLUMN "amount_minor" INTEGER;
ALTER TABLE "withdrawal_blockers" ADD COLUMN "currency" TEXT;
