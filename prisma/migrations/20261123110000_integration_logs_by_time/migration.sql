-- For the cleanup of what applications were told, which no instance of an earlier release writes.
CREATE INDEX CONCURRENTLY "integration_logs_at_idx" ON "integration_logs"("at");
