-- The account that an external id means: there is one at most that is not withdrawn.
CREATE UNIQUE INDEX CONCURRENTLY "users_external_id_active" ON "users"("external_id") WHERE withdrawn_at IS NULL;
