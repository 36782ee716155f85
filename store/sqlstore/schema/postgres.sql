-- The tables in PostgreSQL. This is run once, in the schema that search_path names first. Times are milliseconds since 1970,
-- by the clock of the server. 200 is the overhead of engine.Usage.

create table laconic_schema (version int not null);
insert into laconic_schema values (1);

-- A scope. To delete it is to delete its row.
create table laconic_scopes (
  id bigint generated always as identity primary key,
  name bytea not null unique
);

-- The bytes that a scope keeps, about, are the sum of its rows here. A server process has one, so that writers do not wait
-- for each other.
create table laconic_counts (
  scope bigint not null references laconic_scopes on delete cascade,
  slot int not null,
  bytes bigint not null,
  primary key (scope, slot)
) with (fillfactor = 50); -- each write updates a row

-- An entry of the journal, by its revision.
create table laconic_entries (
  scope bigint not null references laconic_scopes on delete cascade,
  rev bytea not null,
  base bytea, -- revision of the entry that it builds on
  conversation bytea not null,
  used bigint not null,
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
  used bigint not null,
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

-- The server takes samples of columns for its planner, which would outlive the rows that they are from. No column with
-- content, an ID, a handle or a name has any. The planner needs none: each statement uses an index.
do $$
declare
  c record;
begin
  for c in select attrelid::regclass as in_table, attname as name from pg_attribute
    where attrelid in ('laconic_scopes'::regclass, 'laconic_entries'::regclass, 'laconic_heads'::regclass,
      'laconic_contents'::regclass, 'laconic_links'::regclass)
    and attnum > 0 and atttypid in ('bytea'::regtype, 'text'::regtype)
  loop
    execute format('alter table %s alter %I set statistics 0', c.in_table, c.name);
  end loop;
end $$;

-- The functions use indexes, whatever the server supposes: it knows nothing of what is in the columns. Their plans are made
-- once in a connection.

create or replace function laconic_now() returns bigint language sql stable as $$
  select (extract(epoch from now()) * 1000)::bigint
$$;

-- The ID of a scope, which is made if it is new.
create or replace function laconic_scope(p_name bytea) returns bigint language plpgsql as $$
declare
  s bigint;
begin
  loop
    -- The lock keeps the scope from being deleted while rows are added to it.
    select id into s from laconic_scopes where name = p_name for key share;
    if found then
      return s;
    end if;
    insert into laconic_scopes (name) values (p_name) on conflict do nothing;
  end loop;
end $$;

-- How many bytes a scope keeps.
create or replace function laconic_use(p_scope bigint) returns bigint language sql stable as $$
  select coalesce(sum(bytes), 0)::bigint from laconic_counts where scope = p_scope
$$;

-- Adds to the bytes of a scope, unless it is deleted with its rows.
create or replace function laconic_count(p_scope bigint, p_bytes bigint) returns void language sql as $$
  insert into laconic_counts as c
    select p_scope, pg_backend_pid() % 256, p_bytes where exists (select from laconic_scopes where id = p_scope)
    on conflict (scope, slot) do update set bytes = c.bytes + p_bytes
$$;

-- Counts what a statement has changed.
create or replace function laconic_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform laconic_count(scope, sum(octet_length(data) + 200)) from added group by scope;
  elsif tg_op = 'DELETE' then
    perform laconic_count(scope, -sum(octet_length(data) + 200)) from removed group by scope;
  else
    perform laconic_count(scope, sum(bytes)::bigint) from (
      select scope, octet_length(data) as bytes from added union all select scope, -octet_length(data) from removed
    ) changed group by scope having sum(bytes) <> 0;
  end if;
  return null;
end $$;
create trigger added after insert on laconic_entries referencing new table as added
  for each statement execute function laconic_changed();
create trigger removed after delete on laconic_entries referencing old table as removed
  for each statement execute function laconic_changed();
create trigger changed after update on laconic_entries referencing new table as added old table as removed
  for each statement execute function laconic_changed();
create trigger added after insert on laconic_contents referencing new table as added
  for each statement execute function laconic_changed();
create trigger removed after delete on laconic_contents referencing old table as removed
  for each statement execute function laconic_changed();
create trigger changed after update on laconic_contents referencing new table as added old table as removed
  for each statement execute function laconic_changed();

-- Returns the entry under the last ID that has one, and those that it builds on: how many IDs
-- are before that one, the entry, and whether half of its time to live has gone.
create or replace function laconic_find(p_scope bytea, p_ids bytea[], p_ttl bigint, p_depth int)
returns table (at int, rev bytea, base bytea, conversation bytea, data bytea, stale boolean) language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
begin
  return query with recursive hit as (
    select u.n, f.* from (select n, p_ids[n] as id from generate_series(1, cardinality(p_ids)) n order by n desc) u
    cross join lateral (
      select e.scope, e.rev, e.base, e.conversation, e.used, e.data
      from laconic_heads h join laconic_entries e on e.scope = h.scope and e.rev = h.rev
      where h.scope = (select s.id from laconic_scopes s where s.name = p_scope) and h.id = u.id and (p_ttl is null or e.used >= laconic_now() - p_ttl)
      limit 1
    ) f order by u.n desc limit 1
  ), chain as (
    select 0 as depth, hit.* from hit
    union all
    select c.depth + 1, c.n, f.* from chain c cross join lateral (
      select e.scope, e.rev, e.base, e.conversation, e.used, e.data
      from laconic_entries e where e.scope = c.scope and e.rev = c.base limit 1
    ) f where c.depth < p_depth
  )
  select c.n - 1, c.rev, c.base, c.conversation, c.data, coalesce(c.used < laconic_now() - p_ttl / 2, false) from chain c order by c.depth;
end $$;

-- Writes entries, each only if its conditions hold; nothing if those of the first do not.
-- Returns the entry that is kept under the first ID then, if any, or how much a full scope keeps.
create or replace function laconic_put(
  p_scope bytea, p_ids bytea[], p_overs bytea[], p_revs bytea[], p_bases bytea[], p_conversations bytea[],
  p_data bytea[], p_ttl bigint, p_limit bigint, p_heads bytea[], p_head_revs bytea[]
) returns table (o_use bigint, o_rev bytea, o_base bytea, o_conversation bytea, o_data bytea) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  s bigint := laconic_scope(p_scope);
  kept bytea;
  n bigint;
begin
  if p_ttl is not null then -- a base that may expire is renewed, so that none is vacuumed during this call
    update laconic_entries set used = laconic_now() where scope = s and rev = any (p_bases) and used < laconic_now() - p_ttl / 2;
  end if;
  <<writes>> for i in 1 .. array_length(p_ids, 1) loop
    if p_heads[i] is not null then
      -- It is locked until the end: who replaces it waits, or was first.
      perform from laconic_heads where scope = s and id = p_heads[i] and rev = p_head_revs[i] for update;
      if not found and not exists (select from laconic_heads where scope = s and id = p_ids[i] and rev = p_revs[i]) then
        if i = 1 then
          return query select null::bigint, e.rev, e.base, e.conversation, e.data
            from laconic_heads h join laconic_entries e using (scope, rev)
            where scope = s and h.id = p_ids[i] and (p_ttl is null or e.used >= laconic_now() - p_ttl);
          return;
        end if;
        continue;
      end if;
    end if;
    if p_bases[i] is not null then
      perform from laconic_entries where scope = s and rev = p_bases[i];
      if not found and i = 1 then
        return query select null::bigint, rev, base, e.conversation, data
          from laconic_heads h join laconic_entries e using (scope, rev)
          where scope = s and id = p_ids[i] and (p_ttl is null or used >= laconic_now() - p_ttl);
        return;
      end if;
      continue when not found;
    end if;
    if i = 1 and p_limit > 0 then
      select sum(octet_length(data) + 200) into n
        from (select distinct on (u.rev) u.rev, u.data from unnest(p_revs, p_data) u(rev, data)) fresh
        where not exists (select from laconic_entries e where e.scope = s and e.rev = fresh.rev);
      if laconic_use(s) + n > p_limit then -- who comes second learns of the first even so
        return query select null::bigint, e.rev, e.base, e.conversation, e.data
          from laconic_heads h join laconic_entries e using (scope, rev)
          where scope = s and h.id = p_ids[1] and (p_ttl is null or e.used >= laconic_now() - p_ttl)
          and rev <> p_revs[1] and rev is distinct from p_overs[1];
        if not found then
          return query select laconic_use(s), null::bytea, null::bytea, null::bytea, null::bytea;
        end if;
        return;
      end if;
    end if;
    loop
      insert into laconic_heads values (s, p_ids[i], p_revs[i], p_conversations[i]) on conflict do nothing;
      exit when found;
      -- The row is locked first: only a later statement sees all that its last writer has written.
      select rev into kept from laconic_heads where scope = s and id = p_ids[i] for update;
      continue when not found; -- deleted meanwhile
      if kept <> p_revs[i] and kept is distinct from p_overs[i] then
        perform from laconic_entries where scope = s and rev = kept and (p_ttl is null or used >= laconic_now() - p_ttl);
        if found and i = 1 then
          return query select null::bigint, rev, base, conversation, data from laconic_entries where scope = s and rev = kept;
          return;
        end if;
        continue writes when found;
      end if;
      update laconic_heads set rev = p_revs[i], conversation = p_conversations[i] where scope = s and id = p_ids[i];
      exit;
    end loop;
    insert into laconic_entries as e values (s, p_revs[i], p_bases[i], p_conversations[i], laconic_now(), p_data[i])
      on conflict (scope, rev) do update set used = excluded.used, data = excluded.data; -- what is there may be damaged
  end loop;
  if p_ttl is not null then
    update laconic_contents c set used = laconic_now() from laconic_links l
      where l.scope = s and l.conversation = any (p_conversations) and c.scope = s and c.handle = l.handle
      and c.used < laconic_now() - p_ttl / 32 and c.used >= laconic_now() - p_ttl;
  end if;
  return query select null::bigint, p_revs[1], null::bytea, null::bytea, null::bytea;
end $$;

-- Writes contents for a conversation. Returns how much a full scope keeps, or the handle
-- that another content has; both are null if all is written.
create or replace function laconic_keep(
  p_scope bytea, p_conversation bytea, p_handles text[], p_keys bytea[], p_data bytea[], p_limit bigint,
  out o_use bigint, out o_conflict text
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  s bigint := laconic_scope(p_scope);
  n bigint;
  present int;
begin
  if p_limit > 0 then
    o_use := laconic_use(s);
    select coalesce(sum(octet_length(u.data) + 200), 0) into n
      from unnest(p_handles, p_data) u(handle, data)
      where not exists (select from laconic_contents c where c.scope = s and c.handle = u.handle);
    if n > 0 and o_use + n > p_limit then
      return;
    end if;
    o_use := null;
  end if;
  loop
    -- In the order of handles, so that two calls never wait for each other.
    insert into laconic_contents
      select s, handle, key, laconic_now(), data from unnest(p_handles, p_keys, p_data) u(handle, key, data) order by handle
      on conflict do nothing;
    -- A content that was there may be deleted meanwhile; after this it is not.
    perform from laconic_contents where scope = s and handle = any (p_handles) order by handle for no key update;
    get diagnostics present = row_count;
    exit when present = array_length(p_handles, 1);
  end loop;
  -- What is there may be damaged, or sealed with a key that is gone.
  update laconic_contents c set used = laconic_now(), data = case when c.data = u.data then c.data else u.data end
    from unnest(p_handles, p_keys, p_data) u(handle, key, data)
    where c.scope = s and c.handle = u.handle and c.key = u.key and (c.data <> u.data or c.used < laconic_now() - 60000);
  insert into laconic_links
    select s, p_conversation, handle from unnest(p_handles, p_keys) u(handle, key)
      join laconic_contents c using (handle) where c.scope = s and c.key = u.key order by handle
    on conflict do nothing;
  select handle into o_conflict from unnest(p_handles, p_keys) u(handle, key)
    join laconic_contents c using (handle) where c.scope = s and c.key <> u.key limit 1;
end $$;

-- Removes scopes without rows. A locked one is in use; what was added before the lock is
-- seen by the second statement.
create or replace function laconic_drop_empty() returns void language plpgsql as $$
declare
  empty bigint[];
begin
  select array_agg(id) into empty from (
    select id from laconic_scopes s where not exists (select from laconic_entries where scope = s.id)
    and not exists (select from laconic_contents where scope = s.id) for update skip locked
  ) e;
  delete from laconic_scopes s where id = any (empty) and not exists (select from laconic_entries where scope = s.id)
    and not exists (select from laconic_contents where scope = s.id);
end $$;
