-- Instances of the last release read this column while they run beside the new ones. The release after this one drops it.
ALTER TABLE "users" ADD COLUMN IF NOT EXISTS "frozen_at" TIMESTAMPTZ(3);
CREATE INDEX IF NOT EXISTS "users_frozen" ON "users"("frozen_at") WHERE frozen_at IS NOT NULL AND withdrawn_at IS NULL;
