import pg from 'pg';
import { expect, test } from 'vitest';
import { sql, toLiteralSql } from './database.ts';

test.each(['', "it's", "''", 'a\\b', "\\'", 'plain', 'ünï', '\n'])('%j is quoted as by the driver', (text) => {
  expect(toLiteralSql(sql.unsafe`SELECT ${text}`)).toBe(`SELECT ${pg.escapeLiteral(text)}`);
});
