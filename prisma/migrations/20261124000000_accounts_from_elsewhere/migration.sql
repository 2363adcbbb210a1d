-- Accounts that come from elsewhere: the adopter's own id, the person's language, and nobody needs a password.
ALTER TABLE "users"
  ADD COLUMN "external_id" TEXT,
  ADD COLUMN "locale" TEXT,
  -- Rises with every real change of the password. A renewed hash of the same password leaves it as it is.
  ADD COLUMN "credential_version" INTEGER NOT NULL DEFAULT 0,
  -- Outside tokens that were issued before it are refused.
  ADD COLUMN "credentials_since" TIMESTAMPTZ(3),
  ALTER COLUMN "password_hash" DROP NOT NULL;

-- When the person was last asked who they are; null where the identity provider did not say.
ALTER TABLE "sessions" ADD COLUMN "authenticated_at" TIMESTAMPTZ(3);
UPDATE "sessions" SET "authenticated_at" = "created_at" WHERE "revoked_at" IS NULL;
