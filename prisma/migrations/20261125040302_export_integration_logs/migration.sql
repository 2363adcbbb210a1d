-- An export reads the rows of a person in the order of this index.
CREATE INDEX CONCURRENTLY "integration_logs_user_id_id_idx" ON "integration_logs"("user_id", "id");
