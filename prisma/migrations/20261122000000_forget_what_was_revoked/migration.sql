-- CreateIndex
CREATE INDEX "sessions_open" ON "sessions"("user_id") WHERE (revoked_at IS NULL);

-- CreateIndex
CREATE INDEX "sessions_ended" ON "sessions"(LEAST("revoked_at", "expires_at"));

-- CreateIndex
CREATE INDEX "access_tokens_ended" ON "access_tokens"(LEAST("revoked_at", "expires_at"));

-- DropIndex
DROP INDEX "sessions_expires_at_idx";

-- DropIndex
DROP INDEX "access_tokens_expires_at_idx";
