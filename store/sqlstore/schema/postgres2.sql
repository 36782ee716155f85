-- Step 2. The server takes samples of columns for its planner, which would outlive the rows
-- that they are from. No column with content, an ID, a handle or a name has any from now on.
-- To set the type of a column removes its samples; since it is the type that the column has,
-- nothing is written anew. The planner needs none: each statement uses an index.
do $$
declare
  c record;
begin
  for c in select attrelid::regclass as in_table, attname as name, atttypid::regtype as type from pg_attribute
    where attrelid in ('laconic_scopes'::regclass, 'laconic_entries'::regclass, 'laconic_heads'::regclass,
      'laconic_contents'::regclass, 'laconic_links'::regclass)
    and attnum > 0 and atttypid in ('bytea'::regtype, 'text'::regtype)
  loop
    execute format('alter table %s alter %I type %s, alter %2$I set statistics 0', c.in_table, c.name, c.type);
  end loop;
  alter table laconic_entries alter data set storage external; -- the type has set another one
  alter table laconic_contents alter data set storage external;
end $$;

-- Bytes that writes have added to a scope, in addition to laconic_scopes.bytes. A server
-- process has one row of a scope, so that writers do not wait for each other.
create table laconic_counts (
  scope bigint not null references laconic_scopes on delete cascade,
  slot int not null,
  bytes bigint not null,
  primary key (scope, slot)
) with (fillfactor = 50); -- each write updates a row
