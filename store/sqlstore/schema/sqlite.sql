-- The tables in SQLite. The comments of postgres.sql apply. Triggers count the bytes of a scope.

create table laconic_schema (version integer not null);
insert into laconic_schema values (1);

create table laconic_scopes (
  id integer primary key,
  name blob not null unique,
  bytes integer not null default 0
);

create table laconic_entries (
  scope integer not null references laconic_scopes on delete cascade,
  rev blob not null,
  base blob,
  conversation blob not null,
  used integer not null,
  data blob not null,
  unique (scope, rev)
);
create index laconic_entries_conversation on laconic_entries (scope, conversation);

create table laconic_heads (
  scope integer not null references laconic_scopes on delete cascade,
  id blob not null,
  rev blob not null,
  conversation blob not null,
  primary key (scope, id),
  foreign key (scope, rev) references laconic_entries (scope, rev) on delete cascade
) without rowid;
create index laconic_heads_conversation on laconic_heads (scope, conversation);
create index laconic_heads_rev on laconic_heads (scope, rev);

create table laconic_contents (
  scope integer not null references laconic_scopes on delete cascade,
  handle text not null,
  key blob not null,
  used integer not null,
  data blob not null,
  unique (scope, handle)
);

create table laconic_links (
  scope integer not null,
  conversation blob not null,
  handle text not null,
  primary key (scope, conversation, handle),
  foreign key (scope, handle) references laconic_contents (scope, handle) on delete cascade
) without rowid;
create index laconic_links_handle on laconic_links (scope, handle);

create trigger laconic_entries_added after insert on laconic_entries begin
  update laconic_scopes set bytes = bytes + length(new.data) + 200 where id = new.scope;
end;
create trigger laconic_entries_removed after delete on laconic_entries begin
  update laconic_scopes set bytes = bytes - length(old.data) - 200 where id = old.scope;
end;
create trigger laconic_entries_changed after update of data on laconic_entries begin
  update laconic_scopes set bytes = bytes + length(new.data) - length(old.data) where id = new.scope;
end;

create trigger laconic_contents_added after insert on laconic_contents begin
  update laconic_scopes set bytes = bytes + length(new.data) + 200 where id = new.scope;
end;
create trigger laconic_contents_removed after delete on laconic_contents begin
  update laconic_scopes set bytes = bytes - length(old.data) - 200 where id = old.scope;
end;
create trigger laconic_contents_changed after update of data on laconic_contents begin
  update laconic_scopes set bytes = bytes + length(new.data) - length(old.data) where id = new.scope;
end;
