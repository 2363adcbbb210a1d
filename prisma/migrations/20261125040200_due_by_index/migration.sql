-- A statement that looks for one withdrawal by its id must not read this index, so its condition is more than "is not completed".
CREATE INDEX CONCURRENTLY "withdrawals_due_by" ON "withdrawals"("due_by") WHERE (completed_at IS NULL AND due_by IS NOT NULL);
