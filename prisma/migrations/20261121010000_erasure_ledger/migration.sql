-- AlterTable
ALTER TABLE "withdrawals" ADD COLUMN     "ledgered_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "withdrawals_to_ledger" ON "withdrawals"("started_at") WHERE (ledgered_at IS NULL);
