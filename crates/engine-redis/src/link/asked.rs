//! What a server is asked.

use redis::aio::MultiplexedConnection;
use redis::{Arg, Cmd, RedisResult, Value};

use super::slots::slot;
use crate::script::Script;

pub(crate) enum Asked<'a> {
    Script {
        script: &'a Script,
        keys: &'a [String],
        arguments: &'a [Vec<u8>],
    },
    Command(&'a Cmd),
}

impl Asked<'_> {
    /// The slot of the first key.
    pub(crate) fn slot(&self) -> u16 {
        match self {
            Self::Script { keys, .. } => keys.first().map_or(0, |key| slot(key.as_bytes())),
            Self::Command(command) => {
                let words: Vec<&[u8]> = command
                    .args_iter()
                    .take(4)
                    .map(|word| match word {
                        Arg::Simple(word) => word,
                        _ => &[],
                    })
                    .collect();
                // A script, the number of its keys, its keys; or a command and its key.
                let key = if words.first() == Some(&&b"EVAL"[..]) {
                    words.get(3)
                } else {
                    words.get(1)
                };
                key.map_or(0, |key| slot(key))
            }
        }
    }

    /// Sends it once; `asking` tells a server that it will have the slot soon.
    pub(crate) async fn send(&self, connection: &mut MultiplexedConnection, asking: bool) -> RedisResult<Value> {
        match self {
            Self::Script {
                script,
                keys,
                arguments,
            } => script.run(connection, asking, keys, arguments).await,
            Self::Command(command) => send(connection, asking, command).await,
        }
    }
}

/// Both words go in one piece, for others send on the same connection.
pub(crate) async fn send(connection: &mut MultiplexedConnection, asking: bool, command: &Cmd) -> RedisResult<Value> {
    if !asking {
        return command.query_async(connection).await;
    }
    let mut pipe = redis::pipe();
    pipe.cmd("ASKING").ignore().add_command(command.clone());
    let (value,) = pipe.query_async(connection).await?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_decides_where_a_command_goes() {
        let mut get = redis::cmd("HGET");
        get.arg("{a:7:0}:buyers").arg("user");
        assert_eq!(Asked::Command(&get).slot(), slot(b"{a:7:0}:buyers"));
        let mut eval = redis::cmd("EVAL");
        eval.arg("return 0").arg(1).arg("{seckill}:acknowledged").arg(3);
        assert_eq!(Asked::Command(&eval).slot(), slot(b"{seckill}:acknowledged"));
    }
}
