CREATE TABLE accounts (
    id VARCHAR(40) NOT NULL,
    email VARCHAR(254) NOT NULL,
    name VARCHAR(80) NOT NULL,
    password_hash VARCHAR(255) NOT NULL,
    session_epoch INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    language VARCHAR(16) NOT NULL,
    organisation VARCHAR(80) DEFAULT '' NOT NULL,
    accent VARCHAR(20) DEFAULT '' NOT NULL,
    picture VARCHAR(64) DEFAULT '' NOT NULL,
    deleted_at BIGINT,
    disabled_at BIGINT,
    CONSTRAINT pk_accounts PRIMARY KEY (id),
    CONSTRAINT uq_accounts_email UNIQUE (email)
);

CREATE TABLE audit_events (
    id VARCHAR(40) NOT NULL,
    at BIGINT NOT NULL,
    kind VARCHAR(32) NOT NULL,
    outcome VARCHAR(16) NOT NULL,
    actor VARCHAR(16) NOT NULL,
    account_id VARCHAR(40),
    client_id TEXT,
    client_name TEXT,
    address VARCHAR(45),
    subject VARCHAR(40),
    count INTEGER NOT NULL,
    CONSTRAINT pk_audit_events PRIMARY KEY (id)
);
CREATE INDEX ix_audit_events_at ON audit_events (at);
CREATE INDEX ix_audit_events_listed ON audit_events (account_id, at, id);

CREATE TABLE day_spending (
    day INTEGER NOT NULL,
    share VARCHAR(160) NOT NULL,
    spent BIGINT NOT NULL,
    CONSTRAINT pk_day_spending PRIMARY KEY (day, share)
);

CREATE TABLE oauth_clients (
    id VARCHAR(40) NOT NULL,
    client_id VARCHAR(2048) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    name TEXT NOT NULL,
    secret_hash VARCHAR(64),
    details JSON NOT NULL,
    fetched_until BIGINT,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    CONSTRAINT pk_oauth_clients PRIMARY KEY (id),
    CONSTRAINT uq_oauth_clients_client_id UNIQUE (client_id),
    CONSTRAINT ck_oauth_clients_kind CHECK (kind IN ('pre', 'dcr', 'cimd'))
);

CREATE TABLE object_deletions (
    object_key VARCHAR(200) NOT NULL,
    noted_at BIGINT NOT NULL,
    CONSTRAINT pk_object_deletions PRIMARY KEY (object_key)
);

CREATE TABLE schema_marks (
    revision VARCHAR(32) NOT NULL,
    serves VARCHAR(32) NOT NULL,
    version VARCHAR(32) NOT NULL,
    CONSTRAINT pk_schema_marks PRIMARY KEY (revision)
);

CREATE TABLE callback_endpoints (
    id VARCHAR(64) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    host VARCHAR(260) NOT NULL,
    verified_at BIGINT,
    failures INTEGER NOT NULL,
    paused_until BIGINT,
    duration_ms INTEGER,
    seen_at BIGINT NOT NULL,
    url TEXT,
    answered VARCHAR(160),
    asked_form_id VARCHAR(40),
    grant_id VARCHAR(40),
    asked_at BIGINT,
    confirmed_at BIGINT,
    CONSTRAINT pk_callback_endpoints PRIMARY KEY (id),
    CONSTRAINT fk_callback_endpoints_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX ix_callback_endpoints_account_id ON callback_endpoints (account_id);

CREATE TABLE drafts (
    id VARCHAR(40) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    status VARCHAR(32) NOT NULL,
    revision INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    created_by VARCHAR(40),
    author VARCHAR(40),
    agent_note VARCHAR(300),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    discard_note VARCHAR(500),
    return_count INTEGER DEFAULT 0 NOT NULL,
    returned_at BIGINT,
    returned_revision INTEGER,
    return_note VARCHAR(500),
    title TEXT NOT NULL,
    goal TEXT,
    private_context TEXT,
    questions JSON NOT NULL,
    follow_up_mode VARCHAR(32) NOT NULL,
    response_mode VARCHAR(32) NOT NULL,
    response_limit VARCHAR(32) NOT NULL,
    followups_given INTEGER,
    max_total_questions INTEGER,
    public_reason TEXT,
    CONSTRAINT pk_drafts PRIMARY KEY (id),
    CONSTRAINT fk_drafts_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
    CONSTRAINT ck_drafts_status CHECK (status IN ('draft', 'published')),
    CONSTRAINT ck_drafts_follow_up_mode CHECK (follow_up_mode IN ('none', 'smart', 'deep_dive')),
    CONSTRAINT ck_drafts_response_mode CHECK (
        response_mode IN ('voice_preferred', 'text_only', 'voice_only')
    ),
    CONSTRAINT ck_drafts_response_limit CHECK (response_limit IN ('one', 'multiple'))
);
CREATE INDEX ix_drafts_account_id ON drafts (account_id);

CREATE TABLE invites (
    token_hash VARCHAR(64) NOT NULL,
    email VARCHAR(254),
    account_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    CONSTRAINT pk_invites PRIMARY KEY (token_hash),
    CONSTRAINT fk_invites_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE TABLE oauth_grants (
    id VARCHAR(40) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    client_pk VARCHAR(40) NOT NULL,
    resource TEXT NOT NULL,
    scope TEXT NOT NULL,
    attests_publish BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT,
    revoked_reason VARCHAR(32),
    muted_until BIGINT,
    CONSTRAINT pk_oauth_grants PRIMARY KEY (id),
    CONSTRAINT fk_oauth_grants_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
    CONSTRAINT fk_oauth_grants_client_pk FOREIGN KEY(client_pk) REFERENCES oauth_clients (id),
    CONSTRAINT ck_oauth_grants_revoked_reason CHECK (
        revoked_reason IN ('disconnected', 'revoked_by_client', 'code_reuse', 'refresh_reuse')
    )
);
CREATE INDEX ix_oauth_grants_account_id ON oauth_grants (account_id);
CREATE INDEX ix_oauth_grants_client_pk ON oauth_grants (client_pk);

CREATE TABLE pictures (
    account_id VARCHAR(40) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    content BYTEA NOT NULL,
    CONSTRAINT pk_pictures PRIMARY KEY (account_id, digest),
    CONSTRAINT fk_pictures_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE TABLE sign_ins (
    id VARCHAR(32) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    session_epoch INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_active_at BIGINT NOT NULL,
    browser VARCHAR(60) DEFAULT '' NOT NULL,
    address VARCHAR(45),
    CONSTRAINT pk_sign_ins PRIMARY KEY (id),
    CONSTRAINT fk_sign_ins_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX ix_sign_ins_account_id ON sign_ins (account_id);

CREATE TABLE draft_confirmations (
    id VARCHAR(40) NOT NULL,
    draft_id VARCHAR(40) NOT NULL,
    revision INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    method VARCHAR(32) NOT NULL,
    grant_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    return_count INTEGER DEFAULT 0 NOT NULL,
    records_voice BOOLEAN DEFAULT false NOT NULL,
    transcriber VARCHAR(260) DEFAULT '' NOT NULL,
    follow_up_writer VARCHAR(500) DEFAULT '' NOT NULL,
    asker_organisation VARCHAR(80) DEFAULT '' NOT NULL,
    asker_accent VARCHAR(20) DEFAULT '' NOT NULL,
    asker_picture VARCHAR(64) DEFAULT '' NOT NULL,
    CONSTRAINT pk_draft_confirmations PRIMARY KEY (id),
    CONSTRAINT fk_draft_confirmations_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id),
    CONSTRAINT ck_draft_confirmations_method CHECK (method IN ('browser', 'agent_attested'))
);
CREATE INDEX ix_draft_confirmations_draft_id ON draft_confirmations (draft_id);

CREATE TABLE draft_returns (
    draft_id VARCHAR(40) NOT NULL,
    number INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    returned_at BIGINT NOT NULL,
    note VARCHAR(500),
    question_notes JSON NOT NULL,
    CONSTRAINT pk_draft_returns PRIMARY KEY (draft_id, number),
    CONSTRAINT fk_draft_returns_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id)
);

CREATE TABLE draft_revisions (
    draft_id VARCHAR(40) NOT NULL,
    revision INTEGER NOT NULL,
    content JSON NOT NULL,
    author VARCHAR(40),
    agent_note VARCHAR(300),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_draft_revisions PRIMARY KEY (draft_id, revision),
    CONSTRAINT fk_draft_revisions_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id)
);

CREATE TABLE draft_views (
    draft_id VARCHAR(40) NOT NULL,
    revision INTEGER NOT NULL,
    seen_at BIGINT NOT NULL,
    accepted TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_draft_views PRIMARY KEY (draft_id),
    CONSTRAINT fk_draft_views_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id)
);

CREATE TABLE forms (
    id VARCHAR(40) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    draft_id VARCHAR(40) NOT NULL,
    share_token VARCHAR(40) NOT NULL,
    status VARCHAR(32) NOT NULL,
    last_stamp BIGINT NOT NULL,
    completed_stamp BIGINT,
    response_count INTEGER NOT NULL,
    answered_count INTEGER NOT NULL,
    started_count INTEGER NOT NULL,
    answer_bytes BIGINT DEFAULT 0 NOT NULL,
    published_at BIGINT NOT NULL,
    closed_at BIGINT,
    frame_origins TEXT DEFAULT '' NOT NULL,
    deleted_at BIGINT,
    records_voice BOOLEAN DEFAULT false NOT NULL,
    transcriber VARCHAR(260) DEFAULT '' NOT NULL,
    spoken_language VARCHAR(20) DEFAULT '' NOT NULL,
    follow_up_writer VARCHAR(500) DEFAULT '' NOT NULL,
    asker_organisation VARCHAR(80) DEFAULT '' NOT NULL,
    asker_accent VARCHAR(20) DEFAULT '' NOT NULL,
    asker_picture VARCHAR(64) DEFAULT '' NOT NULL,
    seen_stamp BIGINT DEFAULT 0 NOT NULL,
    title TEXT NOT NULL,
    goal TEXT,
    private_context TEXT,
    questions JSON NOT NULL,
    follow_up_mode VARCHAR(32) NOT NULL,
    response_mode VARCHAR(32) NOT NULL,
    response_limit VARCHAR(32) NOT NULL,
    followups_given INTEGER,
    max_total_questions INTEGER,
    public_reason TEXT,
    CONSTRAINT pk_forms PRIMARY KEY (id),
    CONSTRAINT fk_forms_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
    CONSTRAINT fk_forms_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id),
    CONSTRAINT uq_forms_draft_id UNIQUE (draft_id),
    CONSTRAINT uq_forms_share_token UNIQUE (share_token),
    CONSTRAINT ck_forms_status CHECK (status IN ('published', 'completed', 'closed')),
    CONSTRAINT ck_forms_follow_up_mode CHECK (follow_up_mode IN ('none', 'smart', 'deep_dive')),
    CONSTRAINT ck_forms_response_mode CHECK (
        response_mode IN ('voice_preferred', 'text_only', 'voice_only')
    ),
    CONSTRAINT ck_forms_response_limit CHECK (response_limit IN ('one', 'multiple'))
);
CREATE INDEX ix_forms_listed ON forms (account_id, published_at, id);

CREATE TABLE idempotency_keys (
    account_id VARCHAR(40) NOT NULL,
    client_id VARCHAR(2048) NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    body_hash VARCHAR(64) NOT NULL,
    draft_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (account_id, client_id, "key"),
    CONSTRAINT fk_idempotency_keys_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
    CONSTRAINT fk_idempotency_keys_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id)
);

CREATE TABLE oauth_codes (
    code_hash VARCHAR(64) NOT NULL,
    grant_id VARCHAR(40) NOT NULL,
    redirect_uri TEXT,
    scope TEXT NOT NULL,
    code_challenge VARCHAR(128) NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    CONSTRAINT pk_oauth_codes PRIMARY KEY (code_hash),
    CONSTRAINT fk_oauth_codes_grant_id FOREIGN KEY(grant_id) REFERENCES oauth_grants (id)
);
CREATE INDEX ix_oauth_codes_grant_id ON oauth_codes (grant_id);

CREATE TABLE oauth_tokens (
    id VARCHAR(40) NOT NULL,
    token_hash VARCHAR(64) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    grant_id VARCHAR(40) NOT NULL,
    scope TEXT NOT NULL,
    resource TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    rotated_at BIGINT,
    renews_id VARCHAR(40),
    CONSTRAINT pk_oauth_tokens PRIMARY KEY (id),
    CONSTRAINT fk_oauth_tokens_grant_id FOREIGN KEY(grant_id) REFERENCES oauth_grants (id),
    CONSTRAINT uq_oauth_tokens_token_hash UNIQUE (token_hash),
    CONSTRAINT ck_oauth_tokens_kind CHECK (kind IN ('access', 'refresh'))
);
CREATE INDEX ix_oauth_tokens_expires_at ON oauth_tokens (expires_at);
CREATE INDEX ix_oauth_tokens_grant_id ON oauth_tokens (grant_id);

CREATE TABLE agent_tokens (
    id VARCHAR(40) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40),
    grant_id VARCHAR(40),
    token_hash VARCHAR(64) NOT NULL,
    hint VARCHAR(20) NOT NULL,
    label VARCHAR(120) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT,
    CONSTRAINT pk_agent_tokens PRIMARY KEY (id),
    CONSTRAINT fk_agent_tokens_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
    CONSTRAINT fk_agent_tokens_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT uq_agent_tokens_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_agent_tokens_account_id ON agent_tokens (account_id);
CREATE INDEX ix_agent_tokens_form_id ON agent_tokens (form_id);
CREATE INDEX ix_agent_tokens_grant_id ON agent_tokens (grant_id);

CREATE TABLE day_counts (
    form_id VARCHAR(40) NOT NULL,
    day INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    transcribed_ms BIGINT DEFAULT 0 NOT NULL,
    model_calls INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT pk_day_counts PRIMARY KEY (form_id, day),
    CONSTRAINT fk_day_counts_form_id FOREIGN KEY(form_id) REFERENCES forms (id)
);

CREATE TABLE event_subscriptions (
    id VARCHAR(40) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    grant_id VARCHAR(40) NOT NULL,
    endpoint_id VARCHAR(64) NOT NULL,
    url TEXT,
    host VARCHAR(260) NOT NULL,
    secret TEXT,
    previous_secret TEXT,
    previous_until BIGINT,
    created_at BIGINT NOT NULL,
    refreshed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    suspended_at BIGINT,
    gone_count INTEGER NOT NULL,
    dropped BOOLEAN NOT NULL,
    error_profile VARCHAR(32) NOT NULL,
    last_delivery_at BIGINT,
    last_failure VARCHAR(32),
    ended_at BIGINT,
    end_reason VARCHAR(32),
    CONSTRAINT pk_event_subscriptions PRIMARY KEY (id),
    CONSTRAINT fk_event_subscriptions_endpoint_id
        FOREIGN KEY(endpoint_id) REFERENCES callback_endpoints (id),
    CONSTRAINT fk_event_subscriptions_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT ck_event_subscriptions_error_profile CHECK (error_profile IN ('plain', 'extension')),
    CONSTRAINT ck_event_subscriptions_last_failure CHECK (
        last_failure IN ('connection_refused', 'timeout', 'tls_error', 'http_4xx', 'http_5xx',
            'challenge_failed')
    ),
    CONSTRAINT ck_event_subscriptions_end_reason CHECK (
        end_reason IN ('unsubscribed', 'disconnected', 'revoked', 'expired')
    )
);
CREATE INDEX ix_event_subscriptions_ending ON event_subscriptions (ended_at, expires_at);
CREATE INDEX ix_event_subscriptions_endpoint_id ON event_subscriptions (endpoint_id);
CREATE INDEX ix_event_subscriptions_grant_id ON event_subscriptions (grant_id);
CREATE INDEX ix_event_subscriptions_of_account
    ON event_subscriptions (account_id, ended_at, expires_at);
CREATE INDEX ix_event_subscriptions_of_form ON event_subscriptions (form_id, ended_at, expires_at);

CREATE TABLE link_openings (
    form_id VARCHAR(40) NOT NULL,
    opened BIGINT NOT NULL,
    CONSTRAINT pk_link_openings PRIMARY KEY (form_id),
    CONSTRAINT fk_link_openings_form_id FOREIGN KEY(form_id) REFERENCES forms (id)
);

CREATE TABLE question_counts (
    form_id VARCHAR(40) NOT NULL,
    question_id VARCHAR(200) NOT NULL,
    answered INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    CONSTRAINT pk_question_counts PRIMARY KEY (form_id, question_id),
    CONSTRAINT fk_question_counts_form_id FOREIGN KEY(form_id) REFERENCES forms (id)
);

CREATE TABLE response_sessions (
    id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    key_hash VARCHAR(64) NOT NULL,
    status VARCHAR(32) NOT NULL,
    responder_name TEXT,
    skipped JSON NOT NULL,
    answered JSON NOT NULL,
    answer_count INTEGER NOT NULL,
    suspect BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    last_active_at BIGINT NOT NULL,
    completed_stamp BIGINT,
    read_stamp BIGINT,
    CONSTRAINT pk_response_sessions PRIMARY KEY (id),
    CONSTRAINT fk_response_sessions_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT uq_response_sessions_form_id_completed_stamp UNIQUE (form_id, completed_stamp),
    CONSTRAINT uq_response_sessions_key_hash UNIQUE (key_hash),
    CONSTRAINT ck_response_sessions_status CHECK (
        status IN ('in_progress', 'completed', 'abandoned')
    )
);
CREATE INDEX ix_response_sessions_listed ON response_sessions (form_id, created_at, id);

CREATE TABLE answers (
    id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    session_id VARCHAR(40) NOT NULL,
    question_id VARCHAR(200) NOT NULL,
    question_text TEXT NOT NULL,
    answer_text TEXT NOT NULL,
    response_type VARCHAR(32) NOT NULL,
    question_kind VARCHAR(32) NOT NULL,
    parent_question_id VARCHAR(200),
    answer_key VARCHAR(64) NOT NULL,
    word_count INTEGER DEFAULT 0 NOT NULL,
    superseded BOOLEAN NOT NULL,
    stamp BIGINT NOT NULL,
    CONSTRAINT pk_answers PRIMARY KEY (id),
    CONSTRAINT fk_answers_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT fk_answers_session_id FOREIGN KEY(session_id) REFERENCES response_sessions (id),
    CONSTRAINT uq_answers_form_id_stamp UNIQUE (form_id, stamp),
    CONSTRAINT uq_answers_session_id_answer_key UNIQUE (session_id, answer_key),
    CONSTRAINT ck_answers_response_type CHECK (response_type IN ('voice', 'text')),
    CONSTRAINT ck_answers_question_kind CHECK (question_kind IN ('scripted', 'followup'))
);
CREATE INDEX ix_answers_of_question
    ON answers (form_id, question_id, superseded, stamp, word_count);

CREATE TABLE event_deliveries (
    id VARCHAR(80) NOT NULL,
    account_id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    subscription_id VARCHAR(40) NOT NULL,
    endpoint_id VARCHAR(64) NOT NULL,
    host VARCHAR(260) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    event_id VARCHAR(64) NOT NULL,
    answer_count INTEGER NOT NULL,
    position BIGINT NOT NULL,
    body TEXT,
    state VARCHAR(32) NOT NULL,
    attempts INTEGER NOT NULL,
    next_at BIGINT NOT NULL,
    lease_until BIGINT,
    renewals INTEGER,
    created_at BIGINT NOT NULL,
    settled_at BIGINT,
    CONSTRAINT pk_event_deliveries PRIMARY KEY (id),
    CONSTRAINT fk_event_deliveries_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT fk_event_deliveries_subscription_id
        FOREIGN KEY(subscription_id) REFERENCES event_subscriptions (id),
    CONSTRAINT uq_event_deliveries_event_id_subscription_id UNIQUE (event_id, subscription_id),
    CONSTRAINT ck_event_deliveries_kind CHECK (kind IN ('event', 'terminated')),
    CONSTRAINT ck_event_deliveries_state CHECK (
        state IN ('pending', 'sending', 'delivered', 'dropped', 'abandoned', 'cancelled')
    )
);
CREATE INDEX ix_event_deliveries_due ON event_deliveries (state, subscription_id, next_at);
CREATE INDEX ix_event_deliveries_listed ON event_deliveries (account_id, created_at, id);
CREATE INDEX ix_event_deliveries_of_form ON event_deliveries (form_id);
CREATE INDEX ix_event_deliveries_positions ON event_deliveries (subscription_id, state, position);

CREATE TABLE handovers (
    id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    session_id VARCHAR(40) NOT NULL,
    secret_hash VARCHAR(64) NOT NULL,
    sealed_key TEXT NOT NULL,
    claimed_by VARCHAR(64),
    expires_at BIGINT NOT NULL,
    CONSTRAINT pk_handovers PRIMARY KEY (id),
    CONSTRAINT fk_handovers_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT fk_handovers_session_id FOREIGN KEY(session_id) REFERENCES response_sessions (id),
    CONSTRAINT uq_handovers_secret_hash UNIQUE (secret_hash),
    CONSTRAINT uq_handovers_session_id UNIQUE (session_id)
);

CREATE TABLE response_deletions (
    id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    session_id VARCHAR(40),
    response_count INTEGER NOT NULL,
    scheduled_at BIGINT NOT NULL,
    begun_at BIGINT,
    CONSTRAINT pk_response_deletions PRIMARY KEY (id),
    CONSTRAINT fk_response_deletions_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT fk_response_deletions_session_id
        FOREIGN KEY(session_id) REFERENCES response_sessions (id),
    CONSTRAINT uq_response_deletions_session_id UNIQUE (session_id)
);
CREATE INDEX ix_response_deletions_form_id ON response_deletions (form_id);
CREATE INDEX ix_response_deletions_scheduled_at ON response_deletions (scheduled_at);

CREATE TABLE delivery_attempts (
    id BIGSERIAL NOT NULL,
    delivery_id VARCHAR(80) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    number INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    duration_ms INTEGER NOT NULL,
    signature TEXT NOT NULL,
    status INTEGER,
    failure VARCHAR(32),
    reply TEXT,
    CONSTRAINT pk_delivery_attempts PRIMARY KEY (id),
    CONSTRAINT fk_delivery_attempts_delivery_id
        FOREIGN KEY(delivery_id) REFERENCES event_deliveries (id),
    CONSTRAINT fk_delivery_attempts_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT uq_delivery_attempts_delivery_id_number UNIQUE (delivery_id, number),
    CONSTRAINT ck_delivery_attempts_failure CHECK (
        failure IN ('connection_refused', 'timeout', 'tls_error', 'http_4xx', 'http_5xx',
            'challenge_failed')
    )
);
CREATE INDEX ix_delivery_attempts_of_form ON delivery_attempts (form_id);

CREATE TABLE follow_ups (
    id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    session_id VARCHAR(40) NOT NULL,
    parent_question_id VARCHAR(200) NOT NULL,
    answer_id VARCHAR(40) NOT NULL,
    state VARCHAR(32) NOT NULL,
    depth INTEGER,
    question_text TEXT NOT NULL,
    technique VARCHAR(32),
    reason VARCHAR(32),
    writer VARCHAR(500) NOT NULL,
    model_outcome VARCHAR(32),
    lease_until BIGINT,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_follow_ups PRIMARY KEY (id),
    CONSTRAINT fk_follow_ups_answer_id FOREIGN KEY(answer_id) REFERENCES answers (id),
    CONSTRAINT fk_follow_ups_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT fk_follow_ups_session_id FOREIGN KEY(session_id) REFERENCES response_sessions (id),
    CONSTRAINT uq_follow_ups_answer_id UNIQUE (answer_id),
    CONSTRAINT uq_follow_ups_session_id_parent_question_id_depth
        UNIQUE (session_id, parent_question_id, depth),
    CONSTRAINT ck_follow_ups_follow_up_state CHECK (state IN ('claimed', 'asked', 'nothing'))
);
CREATE INDEX ix_follow_ups_form_id ON follow_ups (form_id);

CREATE TABLE recordings (
    id VARCHAR(40) NOT NULL,
    form_id VARCHAR(40) NOT NULL,
    question_id VARCHAR(200) NOT NULL,
    key_hash VARCHAR(64) NOT NULL,
    upload_key VARCHAR(64) NOT NULL,
    session_id VARCHAR(40),
    answer_id VARCHAR(40),
    object_key VARCHAR(200) NOT NULL,
    media_type VARCHAR(40) NOT NULL,
    size INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    levels VARCHAR(64),
    transcriber VARCHAR(260) DEFAULT '' NOT NULL,
    transcript_state VARCHAR(32) NOT NULL,
    transcript TEXT,
    attempts INTEGER NOT NULL,
    next_at BIGINT,
    lease_until BIGINT,
    address_hash VARCHAR(64),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_recordings PRIMARY KEY (id),
    CONSTRAINT fk_recordings_answer_id FOREIGN KEY(answer_id) REFERENCES answers (id),
    CONSTRAINT fk_recordings_form_id FOREIGN KEY(form_id) REFERENCES forms (id),
    CONSTRAINT fk_recordings_session_id FOREIGN KEY(session_id) REFERENCES response_sessions (id),
    CONSTRAINT uq_recordings_key_hash_upload_key UNIQUE (key_hash, upload_key),
    CONSTRAINT uq_recordings_object_key UNIQUE (object_key),
    CONSTRAINT ck_recordings_transcript_state CHECK (
        transcript_state IN ('waiting', 'none', 'silent', 'done', 'failed')
    )
);
CREATE INDEX ix_recordings_claimed ON recordings (answer_id, created_at);
CREATE INDEX ix_recordings_due ON recordings (next_at);
CREATE INDEX ix_recordings_of_address ON recordings (address_hash, created_at);
CREATE INDEX ix_recordings_of_form ON recordings (form_id, answer_id, created_at);
CREATE INDEX ix_recordings_of_question ON recordings (form_id, key_hash, question_id);
CREATE INDEX ix_recordings_session_id ON recordings (session_id);
