-- An export reads the rows of a person in the order of this index.
CREATE INDEX CONCURRENTLY "analytics_events_user_id_id_idx" ON "analytics_events"("user_id", "id");
