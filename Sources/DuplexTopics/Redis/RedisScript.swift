// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// A program in Lua that Redis runs as one command, so that nobody sees half of what it does.
struct RedisScript: Sendable {
    /// The program.
    let text: String
    /// The name that the server knows it by.
    private let digest: String

    init(_ text: String) {
        self.text = text
        digest = Base16.encode(SHA1.digest(Array(text.utf8)))
    }

    /// The command that runs it.
    ///
    /// - Parameters:
    ///   - keys: the keys and channels that it uses, all of one slot.
    ///   - arguments: what else it is given.
    ///   - isWhole: whether the program goes along, for a server that doesn't know it; it does from then on.
    /// - Returns: the command.
    func command(_ keys: [[UInt8]], _ arguments: [RedisCommand.Word], isWhole: Bool = false) -> RedisCommand {
        var words: [RedisCommand.Word] = []
        words.reserveCapacity(3 + keys.count + arguments.count)
        words.append(isWhole ? "EVAL" : "EVALSHA")
        words.append(.text(isWhole ? text : digest))
        words.append(.number(Int64(keys.count)))
        for key in keys { words.append(.bytes(key)) }
        words += arguments
        return RedisCommand(words)
    }

    /// The command that makes it known to a server.
    var loading: RedisCommand { RedisCommand("SCRIPT", "LOAD", .text(text)) }

    // MARK: What is kept of a topic

    /// The time, and a new beginning of what is kept of a topic: `renew` gives it an epoch of its own.
    private static let beginning = """
        local call = redis.call
        local time = call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local function renew(fresh, ttl)
          local epoch = fresh .. string.format('%x', now) .. string.format('%x', time[2])
          call('DEL', KEYS[2])
          call('HSET', KEYS[1], 'e', epoch, 'l', 0, 'b', 0, 'f', 1, 't', now, 'x', 0)
          call('PEXPIRE', KEYS[1], ttl)
          return epoch
        end

        """

    /// Publishes a message to a topic that keeps some.
    ///
    /// The hash of a topic has its epoch `e`, its last offset `l`, the bytes `b` of what is kept, the offset `f` and the time `t` of
    /// the first that is kept, how long each is kept `a`, when it expires `x`, and of each origin its last number, the offset of
    /// that, and its time. The stream has each message with its time.
    ///
    /// Keys: the hash, the stream, the channel. Arguments: the command to publish by; origin, number, and the number that must
    /// have come before; an epoch and an offset that it is known to have had; a random text; flags and tail of the frame; the most
    /// messages, bytes, milliseconds; milliseconds in which something may be sent again.
    ///
    /// Answers with 0 for what was published now, 1 for what was before, and 2 for what isn't since one before it is missing;
    /// epoch; offset.
    static let publish = RedisScript(
        beginning + """
            local function holds(frame, id)
              local start = 12 + string.byte(frame, 3)
              return string.sub(frame, start, start + #id - 1) == id
            end
            local number, age = tonumber(ARGV[3]), tonumber(ARGV[12])
            local ttl = math.floor(age * 1.1) + ARGV[13]
            local field = 'o:' .. ARGV[2]
            local m = call('HMGET', KEYS[1], 'e', 'l', 'b', 'f', 't', 'x', field)
            local epoch, last, bytes, first = m[1], tonumber(m[2]), tonumber(m[3]), tonumber(m[4])
            local oldest, expiry, seen, at = tonumber(m[5]), tonumber(m[6]), 0, '0'
            if not epoch or (epoch == ARGV[5] and last < tonumber(ARGV[6])) then
              epoch = renew(ARGV[7], ttl)
              last, bytes, first, oldest, expiry = 0, 0, 1, now, 0
            end
            if m[7] then
              seen, at = string.match(m[7], '^(%d+) (%d+)')
              seen = tonumber(seen)
            end
            if number <= seen then
              local id = string.sub(ARGV[9], 1, 9 + string.byte(ARGV[9], 9))
              local guess = at - seen + number
              local hit = guess > 0 and call('XRANGE', KEYS[2], guess, guess .. '-0')[1]
              if hit and holds(hit[2][4], id) then return {1, epoch, guess} end
              local to = '+'
              repeat
                local entries = call('XREVRANGE', KEYS[2], to, '-', 'COUNT', 100)
                for _, entry in ipairs(entries) do
                  if holds(entry[2][4], id) then return {1, epoch, tonumber(string.match(entry[1], '%d+'))} end
                  to = '(' .. entry[1]
                end
              until #entries < 100
              return {1, epoch, math.min(tonumber(at), last)}
            end
            if tonumber(ARGV[4]) > seen then return {2, epoch, last} end
            if not m[7] then
              local all = call('HGETALL', KEYS[1])
              for i = 1, #all, 2 do
                if string.sub(all[i], 1, 2) == 'o:' and now - ARGV[13] - 60000 > tonumber(string.match(all[i + 1], '%d+$')) then
                  call('HDEL', KEYS[1], all[i])
                end
              end
            end
            last = last + 1
            if first == last then oldest = now end
            local frame = struct.pack('>BBBc0I8', 1, ARGV[8] + 2, #epoch, epoch, last) .. ARGV[9]
            call('XADD', KEYS[2], last .. '-0', 't', now, 'f', frame)
            bytes = bytes + #frame
            local count, size, left = tonumber(ARGV[10]), tonumber(ARGV[11]), 1000
            while first <= last and left > 0
              and (last - first + 1 > count or bytes > size or oldest < now - age) do
              local old = call('XRANGE', KEYS[2], '-', '+', 'COUNT', 2)
              if not old[1] then
                first, bytes = last + 1, 0
                break
              end
              call('XDEL', KEYS[2], old[1][1])
              bytes = bytes - #old[1][2][4]
              first = string.match(old[1][1], '%d+') + 1
              if old[2] then oldest = tonumber(old[2][2][2]) end
              left = left - 1
            end
            if expiry < now + ttl * 0.9 then
              expiry = now + ttl
              call('PEXPIRE', KEYS[1], ttl)
              call('PEXPIRE', KEYS[2], ttl)
            end
            call('HSET', KEYS[1], 'l', last, 'b', bytes, 'f', first, 't', oldest, 'a', age, 'x', expiry, field,
              ARGV[3] .. ' ' .. last .. ' ' .. now)
            call(ARGV[1], KEYS[3], frame)
            return {0, epoch, last}
            """
    )

    /// The history of a topic.
    ///
    /// Keys: the hash, the stream. Arguments: the first id that is wanted; an epoch and an offset that it is known to have had; a
    /// random text; the most messages and the most bytes.
    ///
    /// Answers with the epoch, the last offset, and the frames, the newest first.
    static let history = RedisScript(
        beginning + """
            local m = call('HMGET', KEYS[1], 'e', 'l', 'a')
            local epoch, last = m[1], tonumber(m[2])
            if not epoch or (epoch == ARGV[2] and last < tonumber(ARGV[3])) then
              return {renew(ARGV[4], 3600000), 0, {}}
            end
            local frames, size, oldest = {}, 0, now - (tonumber(m[3]) or 0)
            for _, entry in ipairs(call('XREVRANGE', KEYS[2], '+', ARGV[1], 'COUNT', ARGV[5])) do
              size = size + #entry[2][4]
              if tonumber(entry[2][2]) < oldest or size > tonumber(ARGV[6]) then break end
              frames[#frames + 1] = entry[2][4]
            end
            return {epoch, last, frames}
            """
    )

    // MARK: Presence

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
