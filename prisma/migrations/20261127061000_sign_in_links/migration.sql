CREATE INDEX CONCURRENTLY "sign_ins_linked" ON "sign_ins"("user_id") WHERE (link_until IS NOT NULL);
