//! Tools that migrate the schema of a database.

use super::lasting::{Lasting, Stake};
use super::program::Arity::{Words, WordsOrNone};
use super::program::{Effect, Fact, Interpreter, Language, Program};
use crate::options::OptionSpec;

const fn destroys(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Database, says, instead)
}

/// Options that these tools share.
const OPTIONS: OptionSpec = OptionSpec::gnu(
    "d:c:e:f:q",
    "\
    config= schema= env= environment= database= dataSource= datasource= url= db-url= dbUrl= dir= knexfile= cwd= client= \
    connection= migrations-path= models-path= seeders-path= settings= pythonpath= project= p= startup-project= context= \
    changelog-file= changeLogFile= username= password= defaults-file= repo= r= path= force yes quiet help version",
);

static RESET: Lasting = destroys("drops the database and builds it anew", "migrate status");
pub(super) static SCHEMA_RESET: Lasting = destroys("drops the database and builds it anew", "migration list");
static ACCEPTED: Lasting =
    destroys("changes the schema of the database even if data is lost", "db push").with("accept-data-loss force-reset");
static ALL_TABLES: Lasting = destroys("drops all tables of the database", "").unless("pretend");
pub(super) static DATABASE_DROP: Lasting = destroys("drops the whole database", "").unless("dry-run");
static SCHEMA: Lasting =
    destroys("replaces the whole schema of the database, and the data with it", "db:migrate:status");
static RAILS: Lasting = destroys("drops the whole database", "db:migrate:status");
static ROWS: Lasting = destroys("deletes all rows of all tables", "showmigrations");
static ZERO: Lasting =
    destroys("takes back all migrations of [{}|an application], with their tables", "showmigrations")
        .unless("plan check");
static TO_BASE: Lasting = destroys("takes back all migrations, with their tables", "history").unless("sql");
pub(super) static DATABASE_UNDONE: Lasting = destroys("takes back all migrations, with their tables", "");
static ROLLBACK_ALL: Lasting = destroys("takes back all migrations, with their tables", "migrate:list").with("all");
static ECTO_ALL: Lasting = destroys("takes back all migrations, with their tables", "ecto.migrations").with("all");
static DROP_MIGRATION: Lasting = destroys("deletes a migration that the database may already have", "check");
static FORCED_PUSH: Lasting = destroys("changes the schema of the database even if data is lost", "push").with("force");
static FLYWAY_CLEAN: Lasting = destroys("drops all objects of the schema[ in {url}]", "info");
static LIQUIBASE_DROP: Lasting = destroys("drops all objects of the schema[ in {url}]", "status");
static DOCTRINE_DROP: Lasting =
    destroys("drops the database with all that is in it", "doctrine:migrations:status").with("f force full-database");

const ARTISAN: &[(Effect, &str)] =
    &[(Effect::Lasts(&ALL_TABLES), "migrate:fresh, migrate:refresh, migrate:reset, db:wipe")];
const RAILS_TASKS: &[(Effect, &str)] = &[
    (Effect::Lasts(&RAILS), "db:drop, db:drop:*, db:reset, db:reset:*, db:migrate:reset, db:truncate_all, db:purge"),
    (Effect::Lasts(&SCHEMA), "db:schema:load, db:schema:load:*, db:structure:load, db:setup:replant, db:seed:replant"),
];
const RAILS_TEST: Fact = Fact::TestDatabase("RAILS_ENV=test RACK_ENV=test -e=test --environment=test");

/// A tool whose subcommands destroy.
const fn tool(names: &'static str, subcommands: &'static [(Effect, &'static str)]) -> Program {
    Program { names, options: OPTIONS, rule: Words(2), subcommands, ..Program::DATA }
}

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        options: OptionSpec::gnu("c:n:x:q", "config= name= sql raiseerr help version"),
        ..tool("alembic", &[(Effect::Lasts(&TO_BASE), "downgrade base")])
    },
    Program { facts: &[Fact::TestDatabase("APP_ENV=testing --env=testing")], ..tool("artisan", ARTISAN) },
    tool("atlas", &[(Effect::Lasts(&ALL_TABLES), "schema clean")]),
    Program {
        facts: &[Fact::TestDatabase("APP_ENV=test --env=test -e=test")],
        ..tool("console", &[(Effect::Lasts(&DOCTRINE_DROP), "doctrine:database:drop, doctrine:schema:drop")])
    },
    tool("dbmate", &[(Effect::Lasts(&DATABASE_DROP), "drop")]),
    tool("diesel", &[(Effect::Lasts(&DATABASE_DROP), "database reset, database drop")]),
    tool(
        "django-admin manage.py",
        &[
            (Effect::Lasts(&ROWS), "flush"),
            (Effect::Lasts(&DATABASE_DROP), "reset_db"),
            (Effect::Lasts(&ZERO), "migrate * zero"),
        ],
    ),
    tool(
        "dotnet-ef",
        &[(Effect::Lasts(&DATABASE_DROP), "database drop"), (Effect::Lasts(&DATABASE_UNDONE), "database update 0")],
    ),
    tool("drizzle-kit", &[(Effect::Lasts(&DROP_MIGRATION), "drop"), (Effect::Lasts(&FORCED_PUSH), "push")]),
    tool("drush", &[(Effect::Lasts(&ALL_TABLES), "sql:drop, sql-drop")]),
    Program { rule: Words(1), ..tool("flask", &[(Effect::Lasts(&TO_BASE), "db downgrade base")]) },
    Program {
        options: OptionSpec {
            permute: true,
            ..OptionSpec::go("url= user= password= configFiles= locations= schemas=")
        },
        facts: &[Fact::RunsTasks],
        ..tool("flyway", &[(Effect::Lasts(&FLYWAY_CLEAN), "clean")])
    },
    tool("goose", &[(Effect::Lasts(&DATABASE_UNDONE), "reset, … reset, … down-to 0")]),
    Program {
        facts: &[Fact::TestDatabase("NODE_ENV=test --env=test")],
        ..tool("knex", &[(Effect::Lasts(&ROLLBACK_ALL), "migrate:rollback")])
    },
    tool("liquibase", &[(Effect::Lasts(&LIQUIBASE_DROP), "dropAll, drop-all")]),
    tool("migrate", &[(Effect::Lasts(&ALL_TABLES), "drop")]),
    tool("mikro-orm", &[(Effect::Lasts(&ALL_TABLES), "schema:drop, schema:fresh, migration:fresh")]),
    Program {
        names: "mix",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:", "eval="),
            code: "e eval",
            subcommand: "run",
            ..Interpreter::NONE
        }],
        rule: Words(2),
        subcommands: &[
            (
                Effect::Lasts(&DATABASE_DROP),
                "\
                ecto.drop, ecto.reset, do ecto.drop*, do ecto.reset*, do * ecto.drop*, do * ecto.reset*, \
                do * * ecto.drop*, do * * ecto.reset*",
            ),
            (Effect::Lasts(&ECTO_ALL), "ecto.rollback"),
        ],
        facts: &[Fact::TestDatabase("MIX_ENV=test")],
        ..Program::DATA
    },
    tool("prisma", &[(Effect::Lasts(&RESET), "migrate reset"), (Effect::Lasts(&ACCEPTED), "db push")]),
    Program {
        names: "rails",
        options: OptionSpec::gnu("e:", "environment="),
        interpreters: &[Interpreter {
            language: Language::Ruby,
            options: OptionSpec::leading("e:h", "environment="),
            subcommand: "runner r",
            ..Interpreter::NONE
        }],
        subcommands: RAILS_TASKS,
        facts: &[Fact::RunsTasks, RAILS_TEST],
        ..Program::DATA
    },
    Program {
        names: "rake",
        options: OptionSpec::gnu("f:C:N:I:R:r:e:p:E:j:", "rakefile= directory= libdir= rakelibdir= require= jobs="),
        rule: WordsOrNone(2),
        subcommands: RAILS_TASKS,
        facts: &[Fact::RunsTasks, RAILS_TEST],
        ..Program::DATA
    },
    Program { facts: &[Fact::Contains(&[("artisan art", "artisan")])], ..tool("sail", &[]) },
    Program {
        facts: &[Fact::TestDatabase("NODE_ENV=test --env=test")],
        ..tool(
            "sequelize sequelize-cli",
            &[(Effect::Lasts(&DATABASE_DROP), "db:drop"), (Effect::Lasts(&DATABASE_UNDONE), "db:migrate:undo:all")],
        )
    },
    tool("sqlx", &[(Effect::Lasts(&DATABASE_DROP), "database drop, database reset")]),
    Program { facts: &[Fact::Contains(&[("console", "console")])], ..tool("symfony", &[]) },
    tool("typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm", &[(Effect::Lasts(&ALL_TABLES), "schema:drop")]),
    tool("wp", &[(Effect::Lasts(&ALL_TABLES), "db drop, db reset, db clean")]),
];
