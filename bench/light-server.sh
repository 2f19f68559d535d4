# Owns a server that costs next to nothing to start: the shell's own words only, no other program. It has one tool.

between() { rest=${line#*"$1"}; found=${rest%%"$2"*}; }

while IFS= read -r line; do
  case $line in *'"id":'*) ;; *) continue ;; esac
  between '"id":' ','
  id=${found%\}}
  case $line in
    *'"method":"initialize"'*)
      between '"protocolVersion":"' '"'
      result='{"protocolVersion":"'$found'","capabilities":{"tools":{}},"serverInfo":{"name":"light","version":"1.0.0"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"echo","description":"Says what it is told.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"hello"}]}' ;;
    *)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"
      continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
