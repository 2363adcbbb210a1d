-- A session that a re-authentication started shows a fresh sign-in for its purpose alone.
ALTER TABLE "sessions" ADD COLUMN "authenticated_for" TEXT;

CREATE TABLE "reauth_requests" (
    "id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "reauth_requests_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "reauth_requests_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "reauth_requests_user_id_idx" ON "reauth_requests"("user_id");
CREATE INDEX "reauth_requests_started_at_idx" ON "reauth_requests"("started_at");

-- Deleted rows leave the files of the table within minutes.
ALTER TABLE "reauth_requests" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
