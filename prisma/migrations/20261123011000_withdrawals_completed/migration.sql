-- CreateIndex
CREATE INDEX CONCURRENTLY "withdrawals_completed" ON "withdrawals"("completed_at") WHERE (completed_at IS NOT NULL AND purged_at IS NULL);
