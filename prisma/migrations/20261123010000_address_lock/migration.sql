-- Whether nobody else has this address, asked under a lock that lasts until the transaction ends. Whoever writes "users"."email_key"
-- asks first: a row that the unique index has to refuse would be quoted, address and all, in the server's log.
CREATE FUNCTION "address_is_free"("wanted" TEXT, "by_user" TEXT) RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  -- One of 65,536 locks: which one it is tells nobody the address.
  PERFORM pg_advisory_xact_lock(20261123, hashtext("wanted") & 65535);
  -- What was committed while the lock was waited for is seen here, though not by the statement that asks.
  RETURN NOT EXISTS (SELECT FROM "users" WHERE "email_key" = "wanted" AND "id" <> "by_user");
END
$$;
