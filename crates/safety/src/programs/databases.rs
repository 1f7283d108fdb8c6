//! Clients of databases, and the tools that come with them.

use super::lasting::{Lasting, Stake};
use super::program::Arity::Exact;
use super::program::{Effect, Fact, Program};
use super::query_client::{Database, QueryClient};
use crate::options::OptionSpec;
use crate::queries::QueryLanguage;
use crate::queries::sql::Dialect;

const PSQL: QueryClient = QueryClient {
    files: "f file",
    database: Database::Named("d dbname"),
    safe: "-c",
    ..QueryClient::sql(
        Dialect::Postgres,
        OptionSpec::gnu(
            "c:d:f:h:p:U:v:o:L:F:R:T:P:aAbeEHlnqsStwWxXVz01",
            "\
            command= dbname= file= host= port= username= set= variable= pset= output= log-file= field-separator= \
            record-separator= table-attr= list no-psqlrc single-transaction quiet tuples-only no-align csv html \
            expanded echo-all echo-errors echo-queries echo-hidden single-step single-line no-readline no-password \
            password field-separator-zero record-separator-zero help=? version",
        ),
        "c command",
    )
};

const COCKROACH: QueryClient = QueryClient {
    sub: "sql demo",
    files: "f file",
    database: Database::Option("d database"),
    safe: "sql -e",
    ..QueryClient::sql(
        Dialect::Postgres,
        OptionSpec::gnu(
            "e:d:f:u:p:h:",
            "\
            execute= database= file= user= url= host= port= certs-dir= format= set= watch= insecure echo-sql \
            safe-updates read-only",
        ),
        "e execute",
    )
};

const MYSQL: QueryClient = QueryClient {
    database: Database::Named("D database"),
    safe: "-e",
    ..QueryClient::sql(
        Dialect::MySql,
        OptionSpec::gnu(
            "e:u:p::h:P:D:S:ABbCcEfGHiLNnoqrsTtvVwWX",
            "\
            execute= user= password=? host= port= database= socket= protocol= default-character-set= defaults-file= \
            defaults-extra-file= defaults-group-suffix= init-command= ssl-ca= ssl-cert= ssl-key= ssl-mode= \
            connect-timeout= delimiter= login-path= max-allowed-packet= plugin-dir= prompt= tee= batch silent raw \
            table vertical html xml force verbose compress skip-column-names column-names no-auto-rehash \
            skip-ssl wait binary-mode quick help version",
        ),
        "e execute init-command",
    )
};

const SQLITE: QueryClient = QueryClient {
    operands: Some(1),
    harmless: "readonly",
    database: Database::File,
    ..QueryClient::sql(
        Dialect::Sqlite,
        OptionSpec {
            permute: true,
            ..OptionSpec::go(
                "\
                cmd= init= separator= newline= nullvalue= mmap= vfs= maxsize= hexkey= key= textkey= nonce= readonly \
                batch csv json line list column header noheader html table box markdown quote ascii tabs bail echo \
                interactive stats version help append deserialize memtrace safe unsafe-testing zip",
            )
        },
        "cmd",
    )
};

const DUCKDB: QueryClient = QueryClient {
    files: "f",
    language: QueryLanguage::Sql(Dialect::DuckDb),
    options: OptionSpec {
        permute: true,
        ..OptionSpec::go(
            "\
            c= s= cmd= f= init= separator= newline= nullvalue= readonly batch csv json jsonlines line list column \
            header noheader html table box markdown quote ascii bail echo interactive no-stdin stats version help \
            unsigned unredacted safe",
        )
    },
    code: "c s cmd",
    ..SQLITE
};

const CLICKHOUSE: QueryClient = QueryClient {
    files: "queries-file",
    database: Database::Option("d database"),
    safe: "-q",
    ..QueryClient::sql(
        Dialect::ClickHouse,
        OptionSpec::gnu(
            "q:h:u:d:f:C:c:mnstv",
            "\
            query= host= port= user= password= database= format= config-file= config= queries-file= multiquery \
            multiline secure time verbose",
        ),
        "q query",
    )
};

const SQLCMD: QueryClient = QueryClient {
    files: "i input-file",
    database: Database::Option("d database-name"),
    safe: "-Q",
    ..QueryClient::sql(
        Dialect::TransactSql,
        OptionSpec::gnu(
            "S:U:P:d:Q:q:i:o:h:s:w:l:t:v:H:a:c:f:G::m:V:y:Y:x:EbeIkLNnpRrCWzZX",
            "\
            server= user-name= password= database-name= query= initial-query= input-file= output-file= variables= \
            trust-server-certificate use-trusted-connection",
        ),
        "Q q query initial-query",
    )
};

const BQ: QueryClient = QueryClient {
    sub: "query",
    operands: Some(0),
    harmless: "dry_run",
    safe: "query",
    ..QueryClient::sql(
        Dialect::Warehouse,
        OptionSpec::gnu(
            "nrfdtm",
            "\
            project_id= location= dataset_id= format= max_rows= destination_table= maximum_bytes_billed= parameter= \
            label= job_id= use_legacy_sql=? nouse_legacy_sql dry_run=? replace=? append_table=? batch=? recursive \
            force headless=? quiet=? credential_file= api= bigqueryrc= dataset table model routine",
        ),
        "",
    )
};

/// Clients of data warehouses, which share a manner.
const WAREHOUSE: QueryClient = QueryClient {
    files: "f file",
    database: Database::Option("d database dbname schema"),
    ..QueryClient::sql(
        Dialect::Warehouse,
        OptionSpec::gnu(
            "e:q:f:d:u:n:p:i:h:k:a:r:w:s:o:",
            "\
            execute= query= file= database= dbname= schema= catalog= server= user= username= password= host= port= \
            accountname= rolename= warehouse= keyspace= output-format= hiveconf= hivevar=",
        ),
        "e q execute query",
    )
};

const MONGO: QueryClient = QueryClient {
    files: "f file",
    database: Database::Named(""),
    safe: "--eval",
    ..QueryClient::new(
        QueryLanguage::Mongo,
        OptionSpec::gnu(
            "h:u:p:f:",
            "\
            eval= host= port= username= password= file= authenticationDatabase= authenticationMechanism= tlsCAFile= \
            tlsCertificateKeyFile= apiVersion= json=? quiet shell nodb norc verbose tls help version",
        ),
        "eval",
    )
};

const REDIS: QueryClient = QueryClient {
    operands: Some(0),
    database: Database::Option("n"),
    ..QueryClient::new(
        QueryLanguage::Redis,
        OptionSpec::leading(
            "h:p:s:a:u:n:r:i:d:D:X:t:23xce",
            "\
            user= pass= askpass no-auth-warning raw no-raw csv json tls sni= cacert= cacertdir= cert= key= \
            tls-ciphers= rdb= functions-rdb= pattern= count= eval= pipe pipe-timeout= bigkeys memkeys hotkeys stat \
            latency scan replica ldb cluster verbose help version",
        ),
        "",
    )
};

const fn destroys(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Database, says, instead)
}

const POSTGRES_TOOL: OptionSpec = OptionSpec::gnu(
    "efih:p:U:wWV?",
    "echo force interactive if-exists host= port= username= maintenance-db= no-password password help version",
);

const MONGO_TOOL: OptionSpec = OptionSpec::gnu(
    "h:d:c:u:p:vj:",
    "\
    uri= host= port= db= collection= username= password= authenticationDatabase= nsInclude= nsExclude= nsFrom= nsTo= \
    archive=? file= type= fields= gzip drop dryRun quiet verbose dir= numParallelCollections= \
    numInsertionWorkersPerCollection= mode= upsertFields=",
);

static DROPDB: Lasting = destroys("drops [the database {}|a database] with all that is in it", "").unless("V version");
static DROPUSER: Lasting = destroys("drops [the database user {}|a database user]", "").unless("V version");
static MYSQLADMIN_DROP: Lasting = destroys("drops [the database {}|a database] with all that is in it", "status");
static PG_RESTORE: Lasting =
    destroys("drops what the dump has in [the database {d dbname}|the database] before it restores it", "--list[ {}]")
        .with("c clean")
        .unless("l list f file");
static MONGORESTORE: Lasting = destroys("drops each collection that the dump has before it restores it", "+--dryRun")
    .with("drop")
    .unless("dryRun");
static MONGOIMPORT: Lasting =
    destroys("drops [the collection {c collection}|the collection] before it imports into it", "").with("drop");
static BQ_RM: Lasting = destroys("deletes [{}|a table or dataset] from BigQuery", "show[ {}]");

/// A client of which only the manner of its queries is known.
const fn client(names: &'static str, facts: &'static [Fact]) -> Program {
    Program { names, rule: Exact, facts, ..Program::DATA }
}

/// A tool that destroys under all names of subcommands, or the conditions of its effects.
const fn tool(names: &'static str, options: OptionSpec, subcommands: &'static [(Effect, &'static str)]) -> Program {
    Program { names, options, subcommands, ..Program::DATA }
}

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "bq",
        options: BQ.options,
        subcommands: &[(Effect::Lasts(&BQ_RM), "rm")],
        facts: &[Fact::Queries(&BQ)],
        ..Program::DATA
    },
    client("clickhouse", &[Fact::Queries(&QueryClient { sub: "client", safe: "client -q", ..CLICKHOUSE })]),
    client("clickhouse-client", &[Fact::Queries(&CLICKHOUSE)]),
    Program { options: COCKROACH.options, ..client("cockroach", &[Fact::Queries(&COCKROACH)]) },
    client("beeline cqlsh hive impala-shell presto snowsql spark-sql trino", &[Fact::Queries(&WAREHOUSE)]),
    tool("dropdb", POSTGRES_TOOL, &[(Effect::Lasts(&DROPDB), "")]),
    tool("dropuser", POSTGRES_TOOL, &[(Effect::Lasts(&DROPUSER), "")]),
    client("duckdb", &[Fact::Queries(&DUCKDB)]),
    Program { options: MYSQL.options, ..client("mariadb mycli mysql", &[Fact::Queries(&MYSQL)]) },
    client("mongo mongosh", &[Fact::Queries(&MONGO)]),
    tool("mongoimport", MONGO_TOOL, &[(Effect::Lasts(&MONGOIMPORT), "")]),
    tool("mongorestore", MONGO_TOOL, &[(Effect::Lasts(&MONGORESTORE), "")]),
    tool(
        "mysqladmin mariadb-admin",
        OptionSpec::gnu("u:p::h:P:S:fi:c:r", "user= password=? host= port= socket= protocol= defaults-file= force"),
        &[(Effect::Lasts(&MYSQLADMIN_DROP), "drop")],
    ),
    tool(
        "pg_restore",
        OptionSpec::gnu(
            "abcCd:ef:F:I:j:lL:n:N:Op:h:P:sS:t:T:U:vVwWx1?",
            "\
            data-only blobs clean create dbname= exit-on-error file= format= index= jobs= list use-list= schema= \
            exclude-schema= no-owner function= schema-only superuser= table= trigger= verbose version no-privileges \
            no-acl single-transaction disable-triggers enable-row-security if-exists no-comments \
            no-data-for-failed-tables no-publications no-security-labels no-subscriptions no-tablespaces section= \
            strict-names use-set-session-authorization help host= port= username= no-password password role=",
        ),
        &[(Effect::Lasts(&PG_RESTORE), "")],
    ),
    Program { options: PSQL.options, facts: &[Fact::PrintsItsVersion, Fact::Queries(&PSQL)], ..client("psql", &[]) },
    client("pgcli usql", &[Fact::Queries(&PSQL)]),
    client("keydb-cli redis-cli valkey-cli", &[Fact::Queries(&REDIS)]),
    client("litecli sqlcipher sqlite sqlite3", &[Fact::Queries(&SQLITE)]),
    client("mssql-cli osql sqlcmd", &[Fact::Queries(&SQLCMD)]),
];
