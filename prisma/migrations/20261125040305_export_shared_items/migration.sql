-- An export reads the rows of a person in the order of this index.
CREATE INDEX CONCURRENTLY "shared_items_user_id_id_idx" ON "shared_items"("user_id", "id");
