-- Whether an address that was replaced after "held_since" is still held for its account, which is not "by_user".
CREATE FUNCTION "address_is_held"("wanted" TEXT, "by_user" TEXT, "held_since" TIMESTAMPTZ) RETURNS BOOLEAN LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM "email_change_requests" r JOIN "users" u ON u."id" = r."user_id"
    WHERE r."old_email_key" = "wanted" AND r."status" = 'verified' AND r."closed_at" > "held_since"
      AND r."user_id" IS DISTINCT FROM "by_user" AND u."withdrawn_at" IS NULL
  );
END
$$;

-- Whether nobody else has this address, and it is not held for anybody else, asked under a lock that lasts until the transaction ends.
-- Whoever writes "users"."email_key" asks first: a row that the unique index has to refuse would be quoted, address and all, in the
-- server's log. "held_since" is EMAIL_UNDO_WINDOW ago; a writer that does not say it gets the default of that setting.
DROP FUNCTION "address_is_free"(TEXT, TEXT);
CREATE FUNCTION "address_is_free"("wanted" TEXT, "by_user" TEXT, "held_since" TIMESTAMPTZ DEFAULT now() - interval '7 days')
RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  -- One of 65,536 locks: which one it is tells nobody the address.
  PERFORM pg_advisory_xact_lock(20261123, hashtext("wanted") & 65535);
  -- What was committed while the lock was waited for is seen here, though not by the statement that asks.
  RETURN coalesce(
    (SELECT "id" IS NOT DISTINCT FROM "by_user" FROM "users" WHERE "email_key" = "wanted"),
    NOT "address_is_held"("wanted", "by_user", "held_since")
  );
END
$$;
