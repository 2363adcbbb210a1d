-- An export reads the rows of a person in the order of this index.
CREATE INDEX CONCURRENTLY "transaction_audit_logs_user_id_id_idx" ON "transaction_audit_logs"("user_id", "id");
