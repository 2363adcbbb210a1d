-- One row for each sign-in, sign-out and refused sign-in, with what a person recognises it by. Deleted after 90 days, and with the profile.
CREATE TABLE "sign_ins" (
  "id" TEXT NOT NULL,
  "user_id" TEXT NOT NULL,
  "session_id" TEXT,
  "outcome" TEXT NOT NULL,
  "way" TEXT NOT NULL,
  "device" BYTEA,
  "user_agent" TEXT NOT NULL,
  "ip" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "link_until" TIMESTAMPTZ(3),
  "notice_id" TEXT,
  CONSTRAINT "sign_ins_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "sign_ins_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "sign_ins_user_id_id_idx" ON "sign_ins"("user_id", "id");
CREATE INDEX "sign_ins_user_id_device_idx" ON "sign_ins"("user_id", "device");
CREATE INDEX "sign_ins_session_id_idx" ON "sign_ins"("session_id");
CREATE INDEX "sign_ins_notice_id_idx" ON "sign_ins"("notice_id");
CREATE INDEX "sign_ins_at_idx" ON "sign_ins"("at");
ALTER TABLE "sign_ins" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);

-- True from the creation of an account here to its first sign-in, which no mail tells of.
ALTER TABLE "users" ADD COLUMN "never_signed_in" BOOLEAN NOT NULL DEFAULT false;
