-- An export reads the rows of a person in the order of this index.
CREATE INDEX CONCURRENTLY "transactions_user_id_id_idx" ON "transactions"("user_id", "id");
