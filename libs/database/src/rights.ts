/**
 * Statements that give tables and functions to their roles. Each can be repeated, and changes nothing that is correct already.
 * The owner of the database runs them, and need not be a superuser.
 */

/**
 * Services create no temporary tables, because these could shadow names, and nothing in schema public. Every run revokes
 * both rights: a new database grants them to all roles, and a dump that is restored into it does not contain their revocation.
 */
export const revokeFromAll = `DO $$ BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
END $$`;

/**
 * Only the owner of `log.event` can detach its partitions. After the restore of a dump without owners, another role owns it.
 * See 008-log-retention.sql.
 */
export const giveLog = (): string => `DO $$ BEGIN
  IF (SELECT relowner::regrole::text FROM pg_class WHERE oid = 'log.event'::regclass) <> 'natter_event_queue' THEN
    GRANT CREATE ON SCHEMA log TO natter_event_queue;
    IF NOT ${mayGiveTo('natter_event_queue')} THEN
      EXECUTE format('GRANT natter_event_queue TO %I', current_user);
    END IF;
    ALTER TABLE log.event OWNER TO natter_event_queue;
    REVOKE CREATE ON SCHEMA log FROM natter_event_queue;
    REVOKE ALL ON log.event FROM natter_event_queue;
    EXECUTE format('GRANT SELECT, INSERT ON log.event TO %I', current_user);
  END IF;
END $$`;

/** Functions that run with the rights of natter_log, which may use only the log. See 015-trust-writers.sql. */
const logFunctions = [
  ...[
    'append',
    'append_many',
    'read',
    'read_some',
    'read_types',
    'read_some_types',
    'waiting_since',
    'last_number',
    'position',
    'versions',
    'realms',
  ],
  ...['create_realm', 'new_epoch', 'dropped', 'own_key', 'keys'],
];

/**
 * After the restore of a dump without owners, the owner of the database owns the functions. Then code that the owner of
 * log.event attaches to the table, such as a trigger, would run with all rights.
 */
export const giveLogFunctions = (): string => `DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'log'::regnamespace AND p.proowner <> 'natter_log'::regrole
      AND p.proname IN (${logFunctions.map((name) => `'${name}'`).join(', ')})
  LOOP
    IF NOT ${mayGiveTo('natter_log')} THEN
      EXECUTE format('GRANT natter_log TO %I', current_user);
    END IF;
    GRANT CREATE ON SCHEMA log TO natter_log;
    EXECUTE format('ALTER FUNCTION %s OWNER TO natter_log', f);
    REVOKE CREATE ON SCHEMA log FROM natter_log;
  END LOOP;
END $$`;

/**
 * Grants each service the tables and sequences of its own schema, so migrations need no grants for new ones. The grants are
 * part of each migration, because its triggers may write new tables for processes of the previous release at once.
 */
export const grantTables = (schemas: readonly string[]): string => `DO $$ DECLARE o record; BEGIN
  FOR o IN SELECT c.oid::regclass AS name, c.relkind, 'natter_' || n.nspname AS role
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_roles r ON r.rolname = 'natter_' || n.nspname
    WHERE n.nspname IN (${schemas.map((schema) => `'${schema}'`).join(', ')}) AND c.relkind IN ('r', 'p', 'S')
  LOOP
    IF o.relkind = 'S' THEN
      IF NOT has_sequence_privilege(o.role, o.name, 'USAGE') OR NOT has_sequence_privilege(o.role, o.name, 'SELECT') THEN
        EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE %s TO %I', o.name, o.role);
      END IF;
    ELSIF NOT (has_table_privilege(o.role, o.name, 'SELECT') AND has_table_privilege(o.role, o.name, 'INSERT')
      AND has_table_privilege(o.role, o.name, 'UPDATE') AND has_table_privilege(o.role, o.name, 'DELETE')) THEN
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', o.name, o.role);
    END IF;
  END LOOP;
END $$`;

/**
 * A function is given only to a role that may create in its schema, unless a superuser gives it. Not every released migration
 * that gives one to natter_log grants this right, so each migration runs with it, and ends without it.
 */
export const withLogOwner = (text: string): string =>
  `${ifLogOwner('GRANT CREATE ON SCHEMA log TO natter_log')}; ${text}; ${ifLogOwner('REVOKE CREATE ON SCHEMA log FROM natter_log')}`;

const ifLogOwner = (statement: string): string => `DO $$ BEGIN
  IF to_regnamespace('log') IS NOT NULL AND to_regrole('natter_log') IS NOT NULL THEN ${statement}; END IF;
END $$`;

/** From PostgreSQL 16 on, whoever creates a role is a member who may only pass it on. */
const mayGiveTo = (role: string): string =>
  `pg_has_role('${role}', CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)`;
