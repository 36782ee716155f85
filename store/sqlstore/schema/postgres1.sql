-- Step 1 of the tables in PostgreSQL. It is run once, in the schema that search_path names first.

create table laconic_schema (version int not null);
insert into laconic_schema values (1);

-- A scope, with the bytes that it keeps, about. To delete a scope is to delete its row.
create table laconic_scopes (
  id bigint generated always as identity primary key,
  name bytea not null unique,
  bytes bigint not null default 0
) with (fillfactor = 50); -- each write updates bytes

-- An entry of the journal, by its revision.
create table laconic_entries (
  scope bigint not null references laconic_scopes on delete cascade,
  rev bytea not null,
  base bytea, -- revision of the entry that it builds on
  conversation bytea not null,
  used timestamptz not null,
  data bytea not null,
  primary key (scope, rev)
);
alter table laconic_entries alter data set storage external; -- it is compressed
create index on laconic_entries (scope, conversation);

-- An ID of a history, and the entry that is kept under it.
create table laconic_heads (
  scope bigint not null references laconic_scopes on delete cascade,
  id bytea not null,
  rev bytea not null,
  conversation bytea not null,
  primary key (scope, id),
  foreign key (scope, rev) references laconic_entries on delete cascade deferrable initially deferred
);
create index on laconic_heads (scope, conversation);
create index on laconic_heads (scope, rev);

-- A content of the archive, by its handle.
create table laconic_contents (
  scope bigint not null references laconic_scopes on delete cascade,
  handle text not null,
  key bytea not null,
  used timestamptz not null,
  data bytea not null,
  primary key (scope, handle)
);
alter table laconic_contents alter data set storage external;

-- The conversations that a content belongs to.
create table laconic_links (
  scope bigint not null,
  conversation bytea not null,
  handle text not null,
  primary key (scope, conversation, handle),
  foreign key (scope, handle) references laconic_contents on delete cascade
);
create index on laconic_links (scope, handle);
