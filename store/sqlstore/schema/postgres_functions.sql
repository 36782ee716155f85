-- The functions, which are made anew after each step. Their parameters and results stay, since
-- programs of the version before call them, too. 200 is engine.Overhead. They use indexes,
-- whatever the server supposes: it knows nothing of what is in the columns. Their plans are
-- made once in a connection.

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
  select bytes + (select coalesce(sum(bytes), 0) from laconic_counts where scope = p_scope)::bigint
  from laconic_scopes where id = p_scope
$$;

-- Adds to the bytes of a scope.
create or replace function laconic_count(p_scope bigint, p_bytes bigint) returns void language sql as $$
  insert into laconic_counts as c values (p_scope, pg_backend_pid() % 256, p_bytes)
  on conflict (scope, slot) do update set bytes = c.bytes + p_bytes
$$;

-- Returns the entry under the last ID that has one, and those that it builds on: how many IDs
-- are before that one, the entry, and whether half of its time to live has gone.
create or replace function laconic_find(p_scope bytea, p_ids bytea[], p_ttl interval, p_depth int)
returns table (at int, rev bytea, base bytea, conversation bytea, data bytea, stale boolean) language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
begin
  return query with recursive hit as (
    select u.n, f.* from (select n, p_ids[n] as id from generate_series(1, cardinality(p_ids)) n order by n desc) u
    cross join lateral (
      select e.scope, e.rev, e.base, e.conversation, e.used, e.data
      from laconic_heads h join laconic_entries e on e.scope = h.scope and e.rev = h.rev
      where h.scope = (select s.id from laconic_scopes s where s.name = p_scope) and h.id = u.id and (p_ttl is null or e.used >= now() - p_ttl)
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
  select c.n - 1, c.rev, c.base, c.conversation, c.data, coalesce(c.used < now() - p_ttl / 2, false) from chain c order by c.depth;
end $$;

-- Writes entries, each only if its conditions hold; nothing if those of the first do not.
-- Returns the entry that is kept under the first ID then, if any, or how much a full scope keeps.
create or replace function laconic_put_on(
  p_scope bytea, p_ids bytea[], p_overs bytea[], p_revs bytea[], p_bases bytea[], p_conversations bytea[],
  p_data bytea[], p_ttl interval, p_limit bigint, p_heads bytea[], p_head_revs bytea[]
) returns table (o_use bigint, o_rev bytea, o_base bytea, o_conversation bytea, o_data bytea) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  s bigint := laconic_scope(p_scope);
  kept bytea;
  n bigint := 0;
  was bigint;
begin
  if p_limit > 0 then
    n := laconic_use(s);
    if n + (select sum(octet_length(d) + 200) from unnest(p_data) d) > p_limit then
      return query select n, null::bytea, null::bytea, null::bytea, null::bytea;
      return;
    end if;
    n := 0;
  end if;
  if p_ttl is not null then -- a base that may expire is renewed, so that none is vacuumed during this call
    update laconic_entries set used = now() where scope = s and rev = any (p_bases) and used < now() - p_ttl / 2;
  end if;
  <<writes>> for i in 1 .. array_length(p_ids, 1) loop
    if p_heads[i] is not null then
      -- It is locked until the end: who replaces it waits, or was first.
      perform from laconic_heads where scope = s and id = p_heads[i] and rev = p_head_revs[i] for update;
      if not found and not exists (select from laconic_heads where scope = s and id = p_ids[i] and rev = p_revs[i]) then
        if i = 1 then
          return query select null::bigint, e.rev, e.base, e.conversation, e.data
            from laconic_heads h join laconic_entries e using (scope, rev)
            where scope = s and h.id = p_ids[i] and (p_ttl is null or e.used >= now() - p_ttl);
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
          where scope = s and id = p_ids[i] and (p_ttl is null or used >= now() - p_ttl);
        return;
      end if;
      continue when not found;
    end if;
    loop
      insert into laconic_heads values (s, p_ids[i], p_revs[i], p_conversations[i]) on conflict do nothing;
      exit when found;
      -- The row is locked first: only a later statement sees all that its last writer has written.
      select rev into kept from laconic_heads where scope = s and id = p_ids[i] for update;
      continue when not found; -- deleted meanwhile
      if kept <> p_revs[i] and kept is distinct from p_overs[i] then
        perform from laconic_entries where scope = s and rev = kept and (p_ttl is null or used >= now() - p_ttl);
        if found and i = 1 then
          return query select null::bigint, rev, base, conversation, data from laconic_entries where scope = s and rev = kept;
          return;
        end if;
        continue writes when found;
      end if;
      update laconic_heads set rev = p_revs[i], conversation = p_conversations[i] where scope = s and id = p_ids[i];
      exit;
    end loop;
    insert into laconic_entries values (s, p_revs[i], p_bases[i], p_conversations[i], now(), p_data[i]) on conflict do nothing;
    if found then
      n := n + octet_length(p_data[i]) + 200;
    else -- what is there may be damaged
      select octet_length(data) into was from laconic_entries where scope = s and rev = p_revs[i] for no key update;
      update laconic_entries set used = now(), data = case when data = p_data[i] then data else p_data[i] end
        where scope = s and rev = p_revs[i];
      n := n + coalesce(octet_length(p_data[i]) - was, 0);
    end if;
  end loop;
  if p_ttl is not null then
    update laconic_contents c set used = now() from laconic_links l
      where l.scope = s and l.conversation = any (p_conversations) and c.scope = s and c.handle = l.handle
      and c.used < now() - p_ttl / 2 and c.used >= now() - p_ttl;
  end if;
  if n <> 0 then
    perform laconic_count(s, n);
  end if;
  return query select null::bigint, p_revs[1], null::bytea, null::bytea, null::bytea;
end $$;

-- laconic_put_on without heads, for programs that do not know them.
create or replace function laconic_put(
  p_scope bytea, p_ids bytea[], p_overs bytea[], p_revs bytea[], p_bases bytea[], p_conversations bytea[],
  p_data bytea[], p_ttl interval, p_limit bigint
) returns table (o_use bigint, o_rev bytea, o_base bytea, o_conversation bytea, o_data bytea) language sql as $$
  select * from laconic_put_on(p_scope, p_ids, p_overs, p_revs, p_bases, p_conversations, p_data, p_ttl, p_limit, null, null)
$$;

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
  n := 0;
  loop
    -- In the order of handles, so that two calls never wait for each other.
    with added as (
      insert into laconic_contents
        select s, handle, key, now(), data from unnest(p_handles, p_keys, p_data) u(handle, key, data) order by handle
        on conflict do nothing returning octet_length(data) + 200 as bytes
    ) select n + coalesce(sum(bytes), 0) into n from added;
    -- A content that was there may be deleted meanwhile; after this it is not.
    perform from laconic_contents where scope = s and handle = any (p_handles) order by handle for no key update;
    get diagnostics present = row_count;
    exit when present = array_length(p_handles, 1);
  end loop;
  -- What is there may be damaged, or sealed with a key that is gone. All rows are locked, so they are as they were.
  with written as (
    update laconic_contents c set used = now(), data = case when c.data = u.data then c.data else u.data end
      from unnest(p_handles, p_keys, p_data) u(handle, key, data) join laconic_contents o on o.scope = s and o.handle = u.handle
      where c.scope = s and c.handle = u.handle and c.key = u.key
      and (c.data <> u.data or c.used < now() - interval '1 minute')
      returning octet_length(c.data) - octet_length(o.data) as bytes
  ) select n + coalesce(sum(bytes), 0) into n from written;
  insert into laconic_links
    select s, p_conversation, handle from unnest(p_handles, p_keys) u(handle, key)
      join laconic_contents c using (handle) where c.scope = s and c.key = u.key order by handle
    on conflict do nothing;
  if n <> 0 then
    perform laconic_count(s, n);
  end if;
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
