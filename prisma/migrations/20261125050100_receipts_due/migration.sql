CREATE INDEX CONCURRENTLY "withdrawals_receipts_due" ON "withdrawals"("receipt_due_at") WHERE (receipt_due_at IS NOT NULL);
