-- DropIndex
DROP INDEX "ended_credentials_withdrawal_id_idx";

-- CreateIndex
CREATE INDEX "ended_credentials_user_id_idx" ON "ended_credentials"("user_id");

-- CreateIndex
CREATE INDEX "outbox_events_sent" ON "outbox_events"("sent_at") WHERE (sent_at IS NOT NULL);
