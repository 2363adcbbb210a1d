-- The deliveries of one application, the newest first.
CREATE INDEX CONCURRENTLY "event_deliveries_app_created" ON "event_deliveries"("app_id", "created_at");
