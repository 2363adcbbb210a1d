-- Events are listed by their time, and deleted after thirty days.
CREATE INDEX CONCURRENTLY "events_occurred" ON "events"("occurred_at");
