package simulate
import ("testing";"fmt";"os";"strconv";"time")
func TestPlay(t *testing.T){
 from,_:=strconv.Atoi(os.Getenv("FROM")); n,_:=strconv.Atoi(os.Getenv("N")); bad:=0
 began:=time.Now()
 for s:=from;s<from+n;s++{
  var out observed; 
  t.Run(fmt.Sprint(s),func(t *testing.T){ out,_=play(t, drawScript(draw(s)), false)})
  if s%25==0 {fmt.Println("at",s,time.Since(began))}; said:=judge(out)
  if len(said)>0 {bad++; fmt.Println("SEED",s); for i,x:=range said { if i<6 {fmt.Println("   ",x)}}}
 }
 fmt.Println("bad",bad,"of",n,"took",time.Since(began))
}
