-- CreateIndex
CREATE INDEX CONCURRENTLY "withdrawals_purged" ON "withdrawals"("purged_at") WHERE (purged_at IS NOT NULL AND completed_at IS NOT NULL);
