-- Tokens of the adopter's services, for the admin API. They act for no user.
CREATE TABLE "service_tokens" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "hosts" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_tokens_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "service_tokens_token_hash_key" ON "service_tokens"("token_hash");

-- External ids of withdrawn accounts, as keyed MACs: until the retention ends a late call does not bring the person back.
CREATE TABLE "ended_external_ids" (
    "withdrawal_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "external_id_mac" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ended_external_ids_pkey" PRIMARY KEY ("withdrawal_id")
) WITH (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
CREATE INDEX "ended_external_ids_user_id_idx" ON "ended_external_ids"("user_id");
CREATE INDEX "ended_external_ids_external_id_mac_idx" ON "ended_external_ids"("external_id_mac");

-- Which service token acted, and who asked for it at the adopter.
ALTER TABLE "audit_events" ADD COLUMN "actor_id" TEXT, ADD COLUMN "requested_by" TEXT;
