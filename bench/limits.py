"""What the benchmarks must stay within: (what, the figure from the rows of bench/run, limit). A limit is
(relation, number); the figure is a function of `row(name)`, which finds a benchmark by the start of its name.
"""


def update_ratio(row):
    return (row('BM_UpdateOnDisk/1000000')['cpu_us'] / row('BM_UpdateOnDisk/1000/')['cpu_us'])


def fill_rate(row):
    fill = row('BM_FillCacheFromDisk/1000000')
    return 1e6 / max(fill['feed_us'], fill['read_us'])


LIMITS = [
    ('durable writes of 1 KB by 64 writers, per second',
     lambda row: row('BM_Create/0/64')['items_per_second'], ('>=', 20000)),
    ('the same on a file system in memory',
     lambda row: row('BM_CreateInMemory/0/64')['items_per_second'], ('>=', 20000)),
    ("one writer's latency beyond one fdatasync, us",
     lambda row: row('BM_Create/0/1')['beyond_fdatasync_us'], ('<=', 100)),
    ('longest stall by merging at 10,000 writes/s, us',
     lambda row: row('BM_SteadyWrites/')['longest_stall_us'], ('<=', 50000)),
    ('writes/s reached in that', lambda row: row('BM_SteadyWrites/')['items_per_second'], ('>=', 9900)),
    ('longest stall on a file system in memory, us',
     lambda row: row('BM_SteadyWritesInMemory/')['longest_stall_us'], ('<=', 50000)),
    ('writes/s reached in that',
     lambda row: row('BM_SteadyWritesInMemory/')['items_per_second'], ('>=', 9900)),
    ('list of 10,000 objects of 3.4 KB as slices, us',
     lambda row: row('BM_ListAsSlices')['cpu_us'], ('<=', 1000)),
    ('a cached object of 1 KB beyond its bytes',
     lambda row: row('BM_CachedObjectOverhead/1024')['overhead_bytes'], ('<=', 200)),
    ('a cached object of 3.4 KB beyond its bytes',
     lambda row: row('BM_CachedObjectOverhead/3400')['overhead_bytes'], ('<=', 200)),
    ("one event of 1.4 KB to 500 watchers' queues, us",
     lambda row: row('BM_DeliverToWatchers')['cpu_us'], ('<=', 50)),
    ("filling a cache with 1,000,000 objects, objects/s",
     lambda row: row('BM_FillCacheFromDisk/1000000')['items_per_second'], ('>=', 500000)),
    ("the same by the CPU time of the busier of two threads", fill_rate, ('>=', 500000)),
    ('cost of an update at 1,000,000 objects by that at 1,000', update_ratio, ('<=', 1.3)),
]


def report(rows):
    """Lines for those limits whose benchmarks have run."""
    def row(name):
        return next(r for r in rows if r['name'].startswith(name))

    for what, figure, (relation, limit) in LIMITS:
        try:
            value = figure(row)
        except (StopIteration, KeyError):
            continue
        holds = value >= limit if relation == '>=' else value <= limit
        yield f'{what:58} {value:14,.2f}  {relation} {limit:<10,} {"holds" if holds else "MISSED"}'
