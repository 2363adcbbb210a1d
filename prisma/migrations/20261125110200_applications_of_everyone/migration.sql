-- CreateIndex
CREATE INDEX CONCURRENTLY "connected_apps_audience_idx" ON "connected_apps"("audience");
