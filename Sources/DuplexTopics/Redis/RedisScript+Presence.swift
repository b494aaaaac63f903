// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Who is present in a topic, by which nodes, and until when these are believed to live.

extension RedisScript {
    /// What all of them begin with.
    ///
    /// The keys: the hash of members with their infos; the hash of how many nodes each is present by; the sorted set of what is
    /// held, `node`, a zero, `id`; the sorted set of nodes by the ends of their leases; the channel of changes. The first argument is
    /// the command to publish by.
    ///
    /// `sweep` removes up to 1,000 members of nodes whose leases have run out, and says whether there are more.
    private static let rooms = #"""
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local function text(number) return string.format('%.0f', number) end
        local function tell(kind, id, info)
          redis.call(ARGV[1], KEYS[5], struct.pack('>BBI4', 1, kind, #id) .. id .. info)
        end
        local function drop(node, id)
          if redis.call('ZREM', KEYS[3], node .. '\0' .. id) == 1 and redis.call('HINCRBY', KEYS[2], id, -1) <= 0 then
            local info = redis.call('HGET', KEYS[1], id) or ''
            redis.call('HDEL', KEYS[2], id)
            redis.call('HDEL', KEYS[1], id)
            tell(1, id, info)
          end
        end
        local function sweep()
          local left = 1000
          local nodes = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', '(' .. text(now), 'LIMIT', 0, 10)
          for _, node in ipairs(nodes) do
            local from, to = '[' .. node .. '\0', '(' .. node .. '\1'
            local held = redis.call('ZRANGEBYLEX', KEYS[3], from, to, 'LIMIT', 0, left)
            for _, hold in ipairs(held) do drop(node, string.sub(hold, #node + 2)) end
            left = left - #held
            if left <= 0 then return 1 end
            redis.call('ZREM', KEYS[4], node)
          end
          return #nodes == 10 and 1 or 0
        end

        """#

    /// A node lives, and says of members that they are present by it or aren't.
    ///
    /// Arguments behind the first: the node; milliseconds of its lease; then three of each member: 1 or 0, id, info. Answers with
    /// whether the node was believed to live, and whether it has to be asked again since more members have to be removed.
    static let present = RedisScript(
        rooms + #"""
            local node = ARGV[2]
            local lease = redis.call('ZSCORE', KEYS[4], node)
            local isKnown = (lease and tonumber(lease) >= now) and 1 or 0
            redis.call('ZADD', KEYS[4], text(now + ARGV[3]), node)
            local more = sweep()
            for i = 4, #ARGV, 3 do
              local id, info = ARGV[i + 1], ARGV[i + 2]
              if ARGV[i] == '0' then
                drop(node, id)
              else
                if redis.call('ZADD', KEYS[3], 0, node .. '\0' .. id) == 1 then redis.call('HINCRBY', KEYS[2], id, 1) end
                if redis.call('HGET', KEYS[1], id) ~= info then
                  redis.call('HSET', KEYS[1], id, info)
                  tell(0, id, info)
                end
              end
            end
            if redis.call('ZLEXCOUNT', KEYS[3], '[' .. node .. '\0', '(' .. node .. '\1') == 0 then
              redis.call('ZREM', KEYS[4], node)
            end
            for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], text(ARGV[3] * 20)) end
            return {isKnown, more}
            """#
    )

    /// A node ends: whoever is present by it alone has gone.
    ///
    /// The second argument is the node.
    static let abandon = RedisScript(
        rooms + #"""
            if redis.call('ZSCORE', KEYS[4], ARGV[2]) then redis.call('ZADD', KEYS[4], 0, ARGV[2]) end
            return sweep()
            """#
    )

    /// Who is present.
    ///
    /// The second argument is how many are wanted, 0 for their number alone. Answers with the number, whether it has to be asked again, and names and infos in turn.
    static let look = RedisScript(
        rooms + #"""
            local more, limit = sweep(), tonumber(ARGV[2])
            local count = redis.call('HLEN', KEYS[1])
            local found = {}
            if limit > 0 and count <= limit and count <= 1000 then
              found = redis.call('HGETALL', KEYS[1])
            elseif limit > 0 then
              local cursor, size = '0', 0
              repeat
                local step = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', 1000)
                cursor = step[1]
                for _, word in ipairs(step[2]) do
                  if #found >= 2 * limit or (#found % 2 == 0 and size > 33554432) then break end
                  found[#found + 1] = word
                  size = size + #word
                end
              until cursor == '0' or #found >= 2 * limit or size > 33554432
            end
            return {count, more, found}
            """#
    )
}
