//! One test per row, in both directions: names and values that people have, kept and withheld.

use super::*;

const PLAIN: &str = "a plain value";

#[test]
fn every_name_row_finds_its_example() {
    for (glob, _, example) in NAMES {
        assert!(is_secret(example, PLAIN), "{glob}: {example}");
        assert!(NamePatternSet::new([*glob]).find(bare(example).as_bytes()).is_some(), "{example} is not of {glob}");
        assert!(is_secret(&format!("{example}_2"), PLAIN), "{example}_2");
    }
}

#[test]
fn every_harmless_row_is_needed_and_kept() {
    for (glob, example) in HARMLESS {
        assert!(NAME_GLOBS.find(example.as_bytes()).is_some(), "{glob}: {example} needs no exception");
        assert!(!is_secret(example, PLAIN), "{glob}: {example}");
    }
}

#[test]
fn every_token_and_field_is_withheld_and_none_that_is_empty() {
    for shape in token_shapes::all_shapes() {
        let token = token_shapes::tests::example(shape);
        assert!(has_secret_shape(&token), "{token}");
    }
    for field in FIELDS {
        assert!(has_secret_shape(&format!("a {field}x")), "{field}");
        assert!(has_secret_shape(&format!("{}x", field.to_uppercase())), "{field}");
        assert!(!has_secret_shape(field) && !has_secret_shape(&format!("{field};a")), "{field} alone");
        assert!(!has_secret_shape(&format!("x{field}y")) || field.starts_with('_'), "{field} within a word");
    }
    assert!(has_secret_shape(&format!("-----BEGIN {} KEY-----\nMII", "RSA PRIVATE")));
}

#[test]
fn passwords_in_urls() {
    for value in [
        "postgres://me:pw@db.example/app",
        "redis://:pw@localhost:6379",
        "http://user:pw@proxy.example:3128",
        "see https://x-access-token:abc@github.com/a/b now",
        "mysql+pymysql://root:p%40w@h/d?charset=utf8",
        "me:pw@tcp(127.0.0.1:3306)/app",
        "https://a.example,https://u:p@b.example",
    ] {
        assert!(has_secret_shape(value), "{value}");
    }
    for value in [
        "postgres://me@db.example/app",
        "https://registry.example:8080/@scope/name",
        "ssh://git@github.com/a/b",
        "git@github.com:a/b.git",
        "https://0123abcd@o0.ingest.sentry.io/1",
        "unix:path=/run/user/1000/bus",
        "me@example.com:22",
        "http://user:@host",
    ] {
        assert!(!has_secret_shape(value), "{value}");
    }
}

#[test]
fn model_keys_of_every_layout() {
    let run = "aB3dE5gH7jK9mN1pQ2sT4v";
    for value in [
        format!("sk-{run}{run}"),
        format!("sk-proj-{run}-{run}_{run}"),
        format!("sk-ant-api03-{run}-{run}_AA"),
        format!("sk-or-v1-{}", "0123456789abcdef".repeat(4)),
        format!("sk-svcacct-{}", "aB3-dE5_".repeat(6)),
    ] {
        assert!(is_secret("X", &value), "{value}");
        assert!(is_secret("X", &format!("Authorization: Bearer {value}")), "{value}");
    }
}

#[test]
fn well_known_secrets_are_withheld() {
    for name in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "MISTRAL_API_KEY",
        "GROQ_API_KEY",
        "XAI_API_KEY",
        "AI_GATEWAY_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
        "COHERE_API_KEY",
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "REPLICATE_API_TOKEN",
        "AZURE_OPENAI_API_KEY",
        "AWS_BEARER_TOKEN_BEDROCK",
        "VERCEL_TOKEN",
        "VERCEL_OIDC_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_SECURITY_TOKEN",
        "AZURE_CLIENT_SECRET",
        "ARM_CLIENT_SECRET",
        "ARM_ACCESS_KEY",
        "AZURE_STORAGE_KEY",
        "AZURE_STORAGE_CONNECTION_STRING",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CREDENTIALS",
        "CLOUDFLARE_API_TOKEN",
        "CLOUDFLARE_API_KEY",
        "DIGITALOCEAN_ACCESS_TOKEN",
        "FLY_API_TOKEN",
        "HCLOUD_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GH_ENTERPRISE_TOKEN",
        "GITHUB_PAT",
        "GITLAB_TOKEN",
        "CI_JOB_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "SYSTEM_ACCESSTOKEN",
        "NPM_TOKEN",
        "NODE_AUTH_TOKEN",
        "PYPI_TOKEN",
        "TWINE_PASSWORD",
        "CARGO_REGISTRY_TOKEN",
        "CODECOV_TOKEN",
        "SENTRY_AUTH_TOKEN",
        "SLACK_BOT_TOKEN",
        "SLACK_SIGNING_SECRET",
        "DISCORD_TOKEN",
        "TELEGRAM_BOT_TOKEN",
        "STRIPE_SECRET_KEY",
        "STRIPE_WEBHOOK_SECRET",
        "TWILIO_AUTH_TOKEN",
        "SENDGRID_API_KEY",
        "JWT_SECRET",
        "SESSION_SECRET",
        "SECRET_KEY_BASE",
        "NEXTAUTH_SECRET",
        "DJANGO_SECRET_KEY",
        "PGPASSWORD",
        "MYSQL_PWD",
        "MYSQL_ROOT_PASSWORD",
        "POSTGRES_PASSWORD",
        "DB_PASS",
        "SSHPASS_PASS",
        "VAULT_TOKEN",
        "CONSUL_HTTP_TOKEN",
        "SOPS_AGE_KEY",
        "RESTIC_PASSWORD",
        "ANSIBLE_VAULT_PASSWORD",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "API_KEY",
        "github_token",
        "my-api-key",
        "PASSWORD_STORE_DIR",
        "LANGSMITH_API_KEY",
        "SUPABASE_SERVICE_ROLE_KEY",
        "DATABASE_AUTH_TOKEN",
        "COMPOSER_AUTH",
        "NPM_CONFIG__AUTH",
        "KAGGLE_KEY",
        "TF_TOKEN_app_terraform_io",
        "NPM_CONFIG_//npm.example.com/:_authToken",
    ] {
        assert!(is_secret(name, PLAIN), "{name}");
    }
}

#[test]
fn ordinary_variables_are_kept() {
    for (name, value) in [
        ("PATH", "/usr/local/bin:/usr/bin:/home/me/sk-learn-tools-of-2024-and-others/bin"),
        ("PATH", "/opt/password=x/bin"),
        ("HOME", "/home/me"),
        ("PROJECT", "/home/me/sk-learn-tools-of-2024-and-others/sk-My-Project-2024"),
        ("BRANCH", "re_write_of_the_2024_importer_and_more"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXXXabcdef/agent.1234"),
        ("SSH_AGENT_PID", "1234"),
        ("GPG_AGENT_INFO", "/run/user/1000/gnupg/S.gpg-agent:0:1"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef"),
        ("XAUTHORITY", "/home/me/.Xauthority"),
        ("KEYBOARD", "us"),
        ("KEYMAP", "de"),
        ("MONKEY", "x"),
        ("HOTKEY", "x"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("MAX_TOKENS", "4096"),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000"),
        ("TOKEN_LIMIT", "10"),
        ("PASSENGER_APP_ENV", "x"),
        ("COMPASS", "x"),
        ("BYPASS_CACHE", "1"),
        ("ENABLE_AUTH", "true"),
        ("SKIP_AUTH", "1"),
        ("INIT_PWD", "/home/me"),
        ("AUTHOR", "me"),
        ("GIT_AUTHOR_NAME", "Secretariat"),
        ("AWS_PROFILE", "dev"),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_CA_BUNDLE", "/etc/ssl/ca.pem"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token"),
        ("GOOGLE_CLOUD_PROJECT", "my-project"),
        ("AZURE_TENANT_ID", "00000000-0000-0000-0000-000000000000"),
        ("OPENAI_BASE_URL", "http://localhost:8080/v1"),
        ("ANTHROPIC_MODEL", "claude-sonnet-4-5-20250929"),
        ("DATABASE_URL", "postgres://localhost/app"),
        ("VITE_API_URL", "https://api.example/v1?lang=de"),
        ("SENTRY_DSN", "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2"),
        ("KUBECONFIG", "/home/me/.kube/config"),
        ("PGPASSFILE", "/home/me/.pgpass"),
        ("LS_COLORS", "rs=0:di=01;34:ln=01;36:*.pem=00;31:*.key=00;31"),
        ("npm_config_user_agent", "npm/10.9.0 node/v22.12.0 linux x64 workspaces/false"),
        ("GIT_SHA", "0123456789abcdef0123456789abcdef01234567"),
        ("BUILD_ID", "SKU0123456789"),
        ("LESS", "-FRX"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("SSL_CERT_FILE", "/etc/ssl/cert.pem"),
        ("CA_CERT", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
        ("JAVA_TOOL_OPTIONS", "-Xmx2g -Dfile.encoding=UTF-8"),
        ("PYTHONHASHSEED", "0"),
        ("XDG_SESSION_ID", "3"),
        ("DESKTOP_SESSION", "gnome"),
        ("RANDOM_SEED", "42"),
    ] {
        assert!(!is_secret(name, value), "{name}={value}");
    }
}

/// Returns a name as the patterns see it.
fn bare(name: &str) -> String {
    name.to_ascii_uppercase().replace(['-', '.', ':', '/'], "_")
}
