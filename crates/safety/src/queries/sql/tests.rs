use super::{SqlDialect, losses, opens_file, shell_commands};

pub(super) const ALL: [SqlDialect; 7] = [
    SqlDialect::Postgres,
    SqlDialect::MySql,
    SqlDialect::Sqlite,
    SqlDialect::DuckDb,
    SqlDialect::ClickHouse,
    SqlDialect::TransactSql,
    SqlDialect::Warehouse,
];

/// Returns the losses of a text, as people read them.
pub(super) fn found(text: &str, dialect: SqlDialect) -> Vec<String> {
    losses(&text.replace('¿', "\0"), dialect).iter().map(ToString::to_string).collect()
}

fn check(dialect: SqlDialect, table: &[(&str, &str)]) {
    let wrong: Vec<_> = table
        .iter()
        .map(|(text, wanted)| (text, wanted, found(text, dialect).join(" · ")))
        .filter(|(_, wanted, got)| got != *wanted)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn statements_that_destroy_in_every_dialect() {
    let table = [
        ("DROP TABLE users", "drops the table users"),
        ("drop table if exists a.users cascade", "drops the table a.users"),
        ("DROP DATABASE shop;", "drops the database shop"),
        ("DROP MATERIALIZED VIEW v", "drops the materialized view v"),
        ("TRUNCATE users", "empties the table users"),
        ("truncate table users, orders restart identity", "empties the table users"),
        ("DELETE FROM users", "deletes all rows of the table users"),
        ("delete from users limit 10", "deletes all rows of the table users"),
        ("DELETE FROM users WHERE true", "deletes all rows of the table users"),
        ("DELETE FROM users WHERE 1=1", "deletes all rows of the table users"),
        ("DELETE FROM users WHERE (1 = 1) OR id = 3", "deletes all rows of the table users"),
        ("DELETE FROM users WHERE 'a' = 'a' AND 1", "deletes all rows of the table users"),
        ("DELETE FROM users WHERE NOT FALSE", "deletes all rows of the table users"),
        ("DELETE FROM users USING (SELECT 1 WHERE true) AS x", "deletes all rows of the table users"),
        ("DELETE FROM users -- WHERE id = 1", "deletes all rows of the table users"),
        ("DELETE FROM users /* WHERE id = 1 */", "deletes all rows of the table users"),
        ("UPDATE users SET admin = true", "changes all rows of the table users"),
        ("UPDATE users SET note = 'WHERE id = 1'", "changes all rows of the table users"),
        ("UPDATE users SET n = (SELECT 1 FROM x WHERE x.id = 1)", "changes all rows of the table users"),
        ("ALTER TABLE users DROP COLUMN email", "drops the column email of the table users"),
        ("ALTER TABLE users DROP email", "drops the column email of the table users"),
        ("ALTER TABLE users ADD x int, DROP CONSTRAINT fk", "drops the constraint fk of the table users"),
        ("ALTER TABLE users DROP PARTITION p1", "drops the partition p1 of the table users"),
        ("ALTER TABLE users TRUNCATE PARTITION p1", "empties the partition p1 of the table users"),
        ("SELECT 1; DROP TABLE users; SELECT 2", "drops the table users"),
        ("DROP TABLE a; DROP TABLE b", "drops the table a · drops the table b"),
        ("EXPLAIN ANALYZE DELETE FROM users", "deletes all rows of the table users"),
        ("EXPLAIN (ANALYZE, BUFFERS) UPDATE users SET a = 1", "changes all rows of the table users"),
        ("WITH x AS (SELECT 1) DELETE FROM users", "deletes all rows of the table users"),
        ("WITH x AS (DELETE FROM users RETURNING *) SELECT * FROM x", "deletes all rows of the table users"),
        ("INSERT INTO log VALUES ('it''s; fine'); TRUNCATE log", "empties the table log"),
        ("DELETE FROM ¿", "deletes all rows of a table whose name is not known"),
        ("DELETE FROM users ¿", "deletes all rows of the table users"),
        ("DROP TABLE ¿_old", "drops the table …_old"),
        ("DROP ¿", "drops an object"),
        ("¿; DROP TABLE users", "drops the table users"),
    ];
    for dialect in ALL {
        check(dialect, &table);
    }
}

#[test]
fn statements_that_destroy_nothing() {
    let table = [
        "",
        ";;",
        "SELECT * FROM users",
        "SELECT 'DROP TABLE users'",
        "SELECT 'it''s'; -- DROP TABLE users",
        "/* DROP TABLE users; */ SELECT 1",
        "SELECT 1 AS drop_me, truncate(2.5, 1)",
        "INSERT INTO t (a) VALUES ('DELETE FROM users')",
        "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 1",
        "DELETE FROM users WHERE id = 1",
        "delete from users where 1=1 and id = 5",
        "DELETE FROM users WHERE id = ¿",
        "DELETE FROM users WHERE ¿",
        "DELETE FROM ¿ WHERE a = 'x'",
        "UPDATE users SET a = 1 WHERE id IN (SELECT 1)",
        "UPDATE users SET a = '¿' WHERE id = ¿",
        "ALTER TABLE users ADD COLUMN x int",
        "ALTER TABLE users ALTER COLUMN x DROP NOT NULL",
        "ALTER TABLE users ALTER x DROP DEFAULT, ALTER y DROP NOT NULL",
        "CREATE TABLE t (id int REFERENCES u ON DELETE CASCADE ON UPDATE SET NULL)",
        "CREATE TEMP TABLE t (id int) ON COMMIT DROP",
        "SELECT * FROM t FOR UPDATE",
        "GRANT DELETE, UPDATE, TRUNCATE ON users TO x",
        "EXPLAIN DELETE FROM users",
        "EXPLAIN (ANALYZE false) DELETE FROM users",
        "WITH x AS (SELECT 1) DELETE FROM users WHERE id IN (SELECT * FROM x)",
        "DROP TEMPORARY TABLE t",
        "CREATE TEMP TABLE t (a int); DELETE FROM t; DROP TABLE t",
        "¿",
        "SELECT ¿",
        "\"; DROP TABLE x;",
    ];
    for dialect in ALL {
        let wrong: Vec<_> =
            table.iter().map(|text| (text, found(text, dialect))).filter(|(_, found)| !found.is_empty()).collect();
        assert!(wrong.is_empty(), "{dialect:?}: {wrong:#?}");
    }
}

#[test]
fn psql_and_postgres() {
    check(
        SqlDialect::Postgres,
        &[
            ("DELETE FROM ONLY \"public\".\"WHERE\"", "deletes all rows of the table public.WHERE"),
            ("SELECT E'it\\'s'; DROP TABLE x", "drops the table x"),
            ("SELECT 'a\\'; DROP TABLE x; --'", "drops the table x"),
            ("SELECT $$; DROP TABLE x; $$", ""),
            ("SELECT $a$; DROP TABLE x; $$ $a$; DROP TABLE y", "drops the table y"),
            ("/* /* nested */ DROP TABLE x; */ SELECT 1", ""),
            ("DO $$ BEGIN DELETE FROM x; END $$", "deletes all rows of the table x"),
            ("DO $$ BEGIN DELETE FROM x WHERE id = 1; END $$", ""),
            ("DO $$ BEGIN IF true THEN DROP TABLE x; END IF; END $$", "drops the table x"),
            (
                "DO $$ DECLARE r record; BEGIN FOR r IN SELECT 1 LOOP EXECUTE format('DROP TABLE %I', r.a); END LOOP; END $$",
                "drops a table",
            ),
            ("DO $$ BEGIN RAISE NOTICE 'DROP TABLE x'; END $$", ""),
            ("CREATE FUNCTION f() RETURNS void AS $$ DELETE FROM x; $$ LANGUAGE sql", ""),
            ("CREATE TRIGGER t AFTER DELETE ON x FOR EACH ROW EXECUTE FUNCTION f(); DROP TABLE y", "drops the table y"),
            ("PREPARE p AS DELETE FROM x", "deletes all rows of the table x"),
            ("COPY (DELETE FROM x RETURNING *) TO STDOUT", "deletes all rows of the table x"),
            ("BEGIN; DELETE FROM x; ROLLBACK", ""),
            ("BEGIN; DROP TABLE x; COMMIT", "drops the table x"),
            ("BEGIN; DELETE FROM x; ROLLBACK TO a; COMMIT", "deletes all rows of the table x"),
            ("\\c other\nDROP TABLE x", "drops the table x"),
            ("\\d users", ""),
            ("\\echo DROP TABLE x\nSELECT 1", ""),
            ("\\dt \\d x", ""),
            ("DELETE FROM x \\g", "deletes all rows of the table x"),
            ("DELETE FROM x\nWHERE id = 1 \\gx\nSELECT 1", ""),
            ("SELECT 'DROP TABLE ' || name FROM tables \\gexec", "drops a table"),
            ("SELECT 'DROP TABLE ' || name FROM tables;", ""),
            ("DELETE FROM :tbl", "deletes all rows of a table"),
            ("DROP OWNED BY joe", "drops the owned by joe"),
            ("UPDATE t SET a = 1 FROM u WHERE t.id = u.id", ""),
            ("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE", ""),
            ("ALTER TYPE t DROP ATTRIBUTE a", "drops the attribute a of the type t"),
            ("VACUUM; REINDEX TABLE x; ANALYZE x", ""),
        ],
    );
}

#[test]
fn mysql_and_mariadb() {
    check(
        SqlDialect::MySql,
        &[
            ("SELECT \"DROP TABLE x;\" # DROP TABLE y", ""),
            ("SELECT 'it\\'s; DROP TABLE x'", ""),
            ("DROP TABLE `a``b`.`c`", "drops the table a``b.c"),
            ("/*!40000 DROP TABLE IF EXISTS x */;", "drops the table x"),
            ("/* DROP TABLE x */ SELECT 1", ""),
            ("SELECT 5--1; DROP TABLE x", "drops the table x"),
            ("DELETE QUICK FROM x", "deletes all rows of the table x"),
            ("DELETE a FROM a JOIN b ON a.id = b.id WHERE b.x = 1", ""),
            ("DELIMITER //\nCREATE PROCEDURE p() BEGIN DELETE FROM x; END //\nDELIMITER ;\nSELECT 1;", ""),
            ("DELIMITER //\nDROP TABLE x //\nDELIMITER ;", "drops the table x"),
            (
                "CREATE TRIGGER t BEFORE DELETE ON x FOR EACH ROW BEGIN DELETE FROM y; END; DROP TABLE z",
                "drops the table z",
            ),
            (
                "CREATE PROCEDURE p() BEGIN IF a THEN DELETE FROM x; END IF; DELETE FROM x; END; TRUNCATE y",
                "empties the table y",
            ),
            ("DROP TABLE x\\G", "drops the table x"),
            ("PREPARE s FROM 'DROP TABLE x'; EXECUTE s", "drops the table x"),
            ("ANALYZE FORMAT=JSON DELETE FROM x", "deletes all rows of the table x"),
            ("ANALYZE TABLE x", ""),
            ("START TRANSACTION; DELETE FROM x; DROP TABLE y; ROLLBACK", "drops the table y"),
            ("UPDATE IGNORE x SET a = 1 ORDER BY b LIMIT 3", "changes all rows of the table x"),
            ("ALTER TABLE x DROP PRIMARY KEY", "drops the primary key of the table x"),
            ("REPLACE INTO x VALUES (1)", ""),
        ],
    );
}

#[test]
fn other_dialects() {
    check(
        SqlDialect::Sqlite,
        &[
            (".tables\nDROP TABLE x;", "drops the table x"),
            (".print DROP TABLE x\nSELECT 1;", ""),
            ("DELETE FROM [order] WHERE id = 1", ""),
            ("DELETE FROM [WHERE]", "deletes all rows of the table WHERE"),
            (
                "CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; UPDATE z SET a = CASE WHEN 1 THEN 2 END; END; SELECT 1;",
                "",
            ),
            ("PRAGMA user_version; VACUUM", ""),
        ],
    );
    check(
        SqlDialect::TransactSql,
        &[
            ("USE master DROP DATABASE shop", "drops the database shop"),
            ("SET NOCOUNT ON DELETE FROM users SELECT * FROM x WHERE a = 1", "deletes all rows of the table users"),
            ("IF OBJECT_ID('x') IS NOT NULL DROP TABLE x", "drops the table x"),
            ("DELETE FROM users\nGO\nSELECT 1 WHERE 1 = 2\nGO 5", "deletes all rows of the table users"),
            ("DELETE TOP (10) FROM users", "deletes all rows of the table users"),
            ("EXEC('DROP TABLE x')", "drops the table x"),
            ("EXEC sp_MSforeachtable 'TRUNCATE TABLE ?'", "empties a table"),
            ("CREATE PROCEDURE p AS BEGIN DELETE FROM x; DROP TABLE y END\nGO\nSELECT 1", ""),
            ("CREATE TABLE t (id int, FOREIGN KEY (id) REFERENCES u ON DELETE CASCADE)", ""),
            ("INSERT INTO t SELECT * FROM u WHERE a = 1", ""),
            ("DROP TABLE #x; DELETE FROM @t", ""),
            ("UPDATE STATISTICS users", ""),
            ("BEGIN TRAN DELETE FROM users ROLLBACK", ""),
            ("BEGIN TRAN DELETE FROM users COMMIT", "deletes all rows of the table users"),
            ("BEGIN TRAN; DELETE FROM users; ROLLBACK", ""),
        ],
    );
    check(
        SqlDialect::ClickHouse,
        &[
            ("ALTER TABLE x DELETE WHERE 1", "deletes all rows of the table x"),
            ("ALTER TABLE x DELETE WHERE id = 1", ""),
            ("ALTER TABLE x UPDATE a = 1 WHERE true", "changes all rows of the table x"),
            ("ALTER TABLE x DROP PARTITION '2024'", "drops the partition 2024 of the table x"),
            ("TRUNCATE DATABASE x", "empties the table x"),
        ],
    );
    check(
        SqlDialect::Warehouse,
        &[
            ("DELETE FROM `p.d.t` WHERE true", "deletes all rows of the table p.d.t"),
            ("SELECT '''; DROP TABLE x;'''", ""),
            ("SELECT r'\\d'; DROP SCHEMA x", "drops the schema x"),
        ],
    );
}

#[test]
fn commands_for_a_shell_are_found() {
    for (dialect, text, wanted) in [
        (SqlDialect::Postgres, "\\! ls -la\nselect 1", &["ls -la"][..]),
        (SqlDialect::Postgres, "select 1 \\g | less\n\\o |cat", &["less", "cat"]),
        (SqlDialect::Postgres, "select '\\! ls'", &[]),
        (SqlDialect::MySql, "\\! ls", &["ls"]),
        (SqlDialect::MySql, "system ls -la;", &["ls -la"]),
        (SqlDialect::Sqlite, ".shell ls\n.read x.sql", &["ls"]),
        (SqlDialect::Sqlite, "select 1;\n.system ls", &["ls"]),
        (SqlDialect::TransactSql, ":!! ls\nGO", &["ls"]),
        (SqlDialect::Warehouse, "\\! ls", &[]),
    ] {
        assert_eq!(shell_commands(text, dialect), wanted, "{text}");
    }
}

#[test]
fn a_database_in_a_file_is_opened_by_name() {
    assert!(opens_file("ATTACH 'x.db' AS x; DROP TABLE x.y", SqlDialect::DuckDb));
    assert!(opens_file(".open x.db", SqlDialect::Sqlite));
    assert!(!opens_file("SELECT 'ATTACH'", SqlDialect::DuckDb));
}
