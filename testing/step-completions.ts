/** Notes each write that completes a step, and each that changes one that was completed. */
export const NOTE_COMPLETIONS = `
  CREATE SCHEMA completions;
  CREATE TABLE completions.notes (withdrawal_id text, step text, what text);
  CREATE FUNCTION completions.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO completions.notes VALUES (NEW.withdrawal_id, NEW.step,
      CASE WHEN OLD.status = 'completed' THEN 'changed after its end' ELSE 'completed' END);
    RETURN NULL;
  END $$;
  CREATE TRIGGER completions AFTER UPDATE ON deletion_steps FOR EACH ROW
    WHEN (NEW.status = 'completed' OR OLD.status = 'completed') EXECUTE FUNCTION completions.note();`
