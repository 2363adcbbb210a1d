-- The events of an open account, which end with it.
CREATE INDEX CONCURRENTLY "events_user" ON "events"("user_id") WHERE user_id IS NOT NULL;
