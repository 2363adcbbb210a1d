-- Known and unknown addresses leave the same row, which is deleted as soon as it is looked at.
CREATE TABLE "password_reset_requests" (
    "id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "password_reset_requests_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "password_reset_requests_due_at_idx" ON "password_reset_requests"("due_at");

-- Deleted rows leave the files of the table within minutes.
ALTER TABLE "password_reset_requests" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
