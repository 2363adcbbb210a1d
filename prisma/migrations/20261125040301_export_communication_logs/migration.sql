-- An export reads the rows of a person in the order of this index.
CREATE INDEX CONCURRENTLY "communication_logs_user_id_id_idx" ON "communication_logs"("user_id", "id");
