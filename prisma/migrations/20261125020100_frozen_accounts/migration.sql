-- What /admin shows.
CREATE INDEX CONCURRENTLY "users_frozen" ON "users"("frozen_at") WHERE frozen_at IS NOT NULL AND withdrawn_at IS NULL;
